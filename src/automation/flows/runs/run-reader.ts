import type { FlowDefinition } from '../../../../machines/flow-run/definition.ts';
import { fieldsSql } from '../../../audience/contacts/queries.ts';
import { BatchedRead, rowsById } from '../../../platform/async/batched-read.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import type { PlanName } from '../../../platform/config/plans.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { ContactTexts } from '../../../platform/text/contact-fields.ts';
import { zones } from '../../../platform/zones/zones.ts';
import { type Act, actSql, leftListActSql } from '../../../sending/suppressions/queries.ts';
import { readDefinitionId, readVersion } from '../store.ts';

/** The facts that a step of a run needs: the state of its flow, and its contact. */
export interface RunRow extends ContactTexts {
  readonly id: string;
  readonly flow_id: string;
  readonly contact_id: string;
  /** The visit that is under way; null while the run waits, and when it has ended. */
  readonly visit: number | null;
  /** The number of times that its present step was begun. */
  readonly attempt: number;
  readonly is_held: boolean;
  /** True when the run has to end. */
  readonly is_cancelled: boolean;
  /** Of an archived workspace nothing leaves. */
  readonly is_archived: boolean;
  readonly plan: PlanName;
  readonly default_from: string | null;
  readonly default_reply_to: string | null;
  readonly time_zone: string;
  /** Null when the contact is gone. */
  readonly email: string | null;
  readonly email_key: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The act that keeps mail from the contact; null where there is none. */
  readonly act: Act | null;
  /** The audience whose joining began the run; null for every other run. */
  readonly audience_id: string | null;
  /** The properties of the event that began the run. */
  readonly event: Readonly<Record<string, unknown>> | null;
}

/** The audience by whose joining `o` the run began: what it sends belongs to that list. */
const LIST = `case when o.type = 'joined' then o.subject end`;

const READ = `select r.id, r.flow_id, r.contact_id,
  case when r.state = r.step then (r.context ->> 'visit')::integer end as visit, (r.context ->> 'attempt')::integer as attempt,
  coalesce(f.is_held, false) as is_held,
  f.id is null or f.deleted_at is not null or coalesce(r.started_at <= f.cancels_before, false) as is_cancelled,
  w.archived_at is not null as is_archived, w.plan, w.default_from, w.default_reply_to, w.time_zone,
  c.email, c.email_key, ${fieldsSql('c')}, coalesce(c.properties, '{}') as properties,
  coalesce(${actSql({ contact: 'c', contactId: 'r.contact_id' })}, ${leftListActSql({ contactId: 'r.contact_id', audienceId: LIST })}) as act,
  ${LIST} as audience_id, o.data as event
from flow_runs r join workspaces w on w.id = r.workspace_id
left join flows f on f.id = r.flow_id
left join contacts c on c.workspace_id = r.workspace_id and c.livemode = r.livemode and c.id = r.contact_id
left join contact_activity o on o.contact_id = r.contact_id and o.id = r.context ->> 'occurrence'
where r.id = any($1)`;

/** Reads the facts that steps need, for many runs with one statement. */
export const runReader = (database: Database) =>
  new BatchedRead<string, RunRow | null>(
    'flow runs',
    rowsById((ids) => database.query<RunRow>(READ, [ids])),
  );

/** The zone that a contact names, or else that of its workspace. */
export function zoneOf(properties: Readonly<Record<string, unknown>>, ofWorkspace: string): string {
  const { timeZone } = properties;
  return typeof timeZone === 'string' && timeZone.length <= 64 && zones.nameOf(timeZone) !== null
    ? timeZone
    : ofWorkspace;
}

/** The characters of definitions that are kept, as JSON; most have some thousands. */
const KEPT_CHARACTERS = 8_000_000;
const KEPT_DEFINITIONS = 10_000;

/** Reads the definition of a version by the name that runs know it by. */
export type ReadDefinition = (definitionId: string) => Promise<FlowDefinition | null>;

/**
 * One reader for each database, so that a definition is kept once, however many parts of the service read
 * definitions.
 */
const readers = new WeakMap<Pick<Database, 'query'>, ReadDefinition>();

/** Reads definitions from a database. They never change, so they are kept. */
export function definitionReader(database: Pick<Database, 'query'>): ReadDefinition {
  const known = readers.get(database) ?? readerOf(database);
  readers.set(database, known);
  return known;
}

function readerOf(database: Pick<Database, 'query'>): ReadDefinition {
  const kept = new LruMap<string, { readonly definition: FlowDefinition; readonly characters: number }>({
    entries: KEPT_DEFINITIONS,
    weight: KEPT_CHARACTERS,
    weightOf: ({ characters }) => characters,
  });
  return async (definitionId) => {
    const known = kept.get(definitionId);
    if (known) return known.definition;
    const named = readDefinitionId(definitionId);
    const row = named && (await readVersion(database, named.flowId, named.version));
    if (!row) return null;
    const { definition } = row;
    kept.set(definitionId, { definition, characters: JSON.stringify(definition).length });
    return definition;
  };
}
