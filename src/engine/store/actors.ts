import type { Database } from '../../platform/db/database.ts';
import { isDistributed } from '../../platform/db/distribution/catalogue.ts';
import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import type { Step } from '../machine/decide.ts';
import type { Kind } from '../machine/kind.ts';
import type { Scope } from '../machine/result.ts';
import type { ActorRow } from '../machine/storage.ts';
import { storeOf } from './store-of.ts';

/**
 * Reads the rows of actors by their ids; known workspaces spare a look for them where tables are distributed.
 */
export type ActorReader = (
  ids: readonly string[],
  workspaceOf?: (id: string) => string | undefined,
) => Promise<readonly ActorRow[]>;

/** Reads the rows of actors by their ids. */
export function actorReader(
  database: Pick<Database, 'query'>,
  kind: Kind,
  shards?: Shards | null,
): ActorReader {
  if (shards && isDistributed(kind.table)) return shardReader(database, kind, shards);
  const read = rowReader(database, kind, false);
  return (ids) => read(ids, []);
}

/** Reads the rows of actors of one workspace: where tables are distributed, on its node alone. */
export function ownActorReader(
  database: Pick<Database, 'query'>,
  kind: Kind,
  workspaceId: string,
): (ids: readonly string[]) => Promise<readonly ActorRow[]> {
  if (!isDistributed(kind.table)) return actorReader(database, kind);
  const read = rowReader(database, kind, true);
  return (ids) => read(ids, [workspaceId]);
}

/** Reads actors, whole; where tables are distributed those of some workspaces. */
function rowReader(database: Pick<Database, 'query'>, kind: Kind, isPlaced: boolean) {
  const store = storeOf(kind);
  const text = store.load(isPlaced);
  return async (ids: readonly string[], workspaces: readonly string[]): Promise<readonly ActorRow[]> => {
    const parameters = [...store.loadParameters(ids), ...(isPlaced ? [workspaces] : [])];
    return store.rowsOf(await database.query<object>(text, parameters));
  };
}

/** Shard by shard, since no lateral join with a limit goes over several. */
function shardReader(database: Pick<Database, 'query'>, kind: Kind, shards: Shards): ActorReader {
  const whose = storeOf(kind).whose();
  const read = rowReader(database, kind, true);
  return async (ids, workspaceOf = () => undefined) => {
    const unknown = ids.filter((id) => workspaceOf(id) === undefined);
    const found =
      unknown.length === 0
        ? []
        : await database.query<{ id: string; workspace_id: string }>(whose, [unknown]);
    const known = ids.flatMap((id) => {
      const workspace = workspaceOf(id);
      return workspace === undefined ? [] : [{ id, workspace_id: workspace }];
    });
    const groups = await shards.groups([...known, ...found], ({ workspace_id }) => workspace_id);
    const rows = await forEachGroup(groups, (group) => {
      const workspaces = [...new Set(group.map(({ workspace_id }) => workspace_id))];
      return read(
        group.map(({ id }) => id),
        workspaces,
      );
    });
    return rows.flat();
  };
}

/** One step of a life, and the write it was part of. */
export interface HistoryEntry extends Step {
  readonly revision: number;
}

/** An actor, by its row and its journal. */
export interface ActorHistory {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
  /** The definition whose machine it runs; none: the kind's own machine. */
  readonly definitionId: string | null;
  readonly revision: number;
  /** XState's id of each pending timer → due moment (epoch ms). */
  readonly timers: Readonly<Record<string, number>>;
  /** Oldest first. */
  readonly steps: readonly HistoryEntry[];
  /** Older writes than these exist, or retention has dropped them. */
  readonly truncated: boolean;
}

/** Writes read of one journal; an email has about four, only an endpoint may have thousands. */
const MOST_WRITES = 500;

/** Reads the life of one actor within a scope; null when there is none. @throws UnavailableError */
export async function readLife(
  database: Database,
  kind: Kind,
  id: string,
  { workspaceId, livemode }: Scope,
): Promise<ActorHistory | null> {
  // The row first: a journal read later can only be newer, and what is newer is cut off below.
  const [row] = await ownActorReader(database, kind, workspaceId)([id]);
  if (!row || row.workspace_id !== workspaceId || row.livemode !== livemode) return null;
  const { sql, parameters } = storeOf(kind).history(row, MOST_WRITES);
  const writes = await database.query<{ revision: number; steps: Step[] }>(sql, parameters);
  writes.reverse();
  const { state, context, revision, definition_id: definitionId = null } = row;
  return {
    id,
    state,
    context,
    revision,
    definitionId,
    timers: row.timers ?? {},
    steps: writes.flatMap(({ revision, steps }) => steps.map((step) => ({ ...step, revision }))),
    truncated: writes[0]?.revision !== 1,
  };
}
