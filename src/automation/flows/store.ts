import type { FlowDefinition } from '../../../machines/flow-run/definition.ts';
import type { Scope } from '../../audience/contacts/queries.ts';
import type { IdRange } from '../../http/lists/list.ts';
import type { Database } from '../../platform/db/database.ts';

/** A flow without its definition. Times are epoch milliseconds. */
export interface FlowRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly id: string;
  readonly name: string;
  readonly status: 'draft' | 'active' | 'paused';
  readonly is_held: boolean;
  readonly version: number;
  readonly published_version: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  /**
   * When the next thing happened that its flows have not followed yet, because their filters take long (epoch
   * ms); else null.
   */
  readonly behind_since: number | null;
}

export interface FlowWithVersion extends FlowRow {
  readonly definition: FlowDefinition;
}

const at = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

/** The cursor of a workspace that follows on its own, and the next entry. */
const BEHIND = `(select ${at('a.at')} from flow_laggards l
    join flow_feed x on x.one and (l.position, l.id) < (x.position, x.id)
    cross join lateral (select at from contact_activity where email_id is null and (position, id) > (l.position, l.id) order by position, id limit 1) a
  where l.workspace_id = f.workspace_id)`;

const COLUMNS = `f.workspace_id, f.livemode, f.id, f.name, f.status, f.is_held, f.version, f.published_version,
  ${at('f.created_at')} as created_at, ${at('f.updated_at')} as updated_at, ${BEHIND} as behind_since`;

const OWN = 'f.workspace_id = $1 and f.livemode = $2::boolean and f.deleted_at is null';

/**
 * Reads a flow with its last written version; null when there is none.
 * @throws UnavailableError
 */
export async function findFlow(
  database: Pick<Database, 'query'>,
  { workspaceId, livemode }: Scope,
  id: string,
): Promise<FlowWithVersion | null> {
  const [row] = await database.query<FlowWithVersion>(
    `select ${COLUMNS}, v.definition from flows f
     join flow_versions v on v.flow_id = f.id and v.version = f.version where ${OWN} and f.id = $3`,
    [workspaceId, livemode, id],
  );
  return row ?? null;
}

/** Which of these flows hold their runs. @throws UnavailableError */
export async function heldFlows(
  database: Pick<Database, 'query'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const held = 'select id from flows where id = any($1) and is_held';
  const rows = await database.query<{ id: string }>(held, [[...new Set(ids)]]);
  return new Set(rows.map(({ id }) => id));
}

/** The flows of an environment, in the order of the range. */
export const readFlows = (
  database: Database,
  { workspaceId, livemode }: Scope,
  { below, from, order }: IdRange,
  { status, limit }: { readonly status: string | null; readonly limit: number },
): Promise<FlowWithVersion[]> =>
  database.query<FlowWithVersion>(
    `select ${COLUMNS}, v.definition from flows f
     join flow_versions v on v.flow_id = f.id and v.version = f.version
     where ${OWN} and ($3::text is null or f.id < $3) and ($4::text is null or f.id >= $4) and ($5::text is null or f.status = $5)
     order by f.id ${order} limit $6::integer`,
    [workspaceId, livemode, below, from, status, limit],
  );

/** A version as it is stored. */
export interface VersionRow {
  readonly version: number;
  readonly definition: FlowDefinition;
  readonly created_at: number;
  readonly published_at: number | null;
}

const VERSION = `v.version, v.definition, ${at('v.created_at')} as created_at, ${at('v.published_at')} as published_at`;

/** The versions of a flow below a number, newest first. */
export const readVersions = (
  database: Database,
  id: string,
  below: number,
  limit: number,
): Promise<VersionRow[]> =>
  database.query<VersionRow>(
    `select ${VERSION} from flow_versions v where v.flow_id = $1 and v.version < $2 order by v.version desc limit $3`,
    [id, below, limit],
  );

/** Reads the definition of a version; null where there is none of that number. */
export async function readVersion(
  database: Pick<Database, 'query'>,
  id: string,
  version: number,
): Promise<VersionRow | null> {
  const [row] = await database.query<VersionRow>(
    `select ${VERSION} from flow_versions v where v.flow_id = $1 and v.version = $2`,
    [id, version],
  );
  return row ?? null;
}

/** The name by which runs know a version. */
export const definitionIdOf = (flowId: string, version: number): string => `${flowId}:${version}`;

/** The flow and the version that it names; null for any other text. */
export function readDefinitionId(id: string): { readonly flowId: string; readonly version: number } | null {
  const [, flowId, version] = /^(flw_[0-9a-z]{24}):([1-9]\d{0,8})$/.exec(id) ?? [];
  return flowId !== undefined && version !== undefined ? { flowId, version: Number(version) } : null;
}
