import type { FlowTrigger } from '../../../machines/flow-definition.ts';
import { occurrencesOf } from '../../../machines/flow-time.ts';
import type { EnrolDeps, Occurrence } from './enrol.ts';
import { definitionReader, zoneOf } from './run-reader.ts';
import { definitionIdOf } from './store.ts';
import type { Listener } from './wake.ts';

type Begin = (listener: Listener, occurrences: readonly Occurrence[]) => Promise<unknown>;

/** Contacts that are looked through together. */
const PAGE = 2_000;
const MINUTE_MS = 60_000;
/** Every offset of a time zone is a multiple of so many minutes. */
const OFFSETS_MINUTES = 15;

/** The contacts of an environment that have the property, in the order of their ids. */
const CONTACTS = `select c.id, c.properties ->> $4 as value, c.properties ->> 'timeZone' as zone, w.time_zone as ofworkspace
from contacts c join workspaces w on w.id = c.workspace_id
where c.workspace_id = $1 and c.livemode = $2::boolean and c.id > $3 and c.properties ->> $4 is not null
order by c.id limit ${PAGE}`;

const SCANNED = `update flows set scanned_to = $2::timestamptz where id = $1`;

interface DatedRow {
  readonly id: string;
  readonly value: string;
  readonly zone: string | null;
  readonly ofworkspace: string;
}

type DateTrigger = FlowTrigger & { readonly type: 'dateProperty' };

/**
 * Begins the runs whose day has come. A time of the day comes in some zone every quarter of an hour at the most, so contacts are
 * looked through only at those minutes; what was missed meanwhile is made up for.
 */
export async function beginDated(
  deps: EnrolDeps & { readonly enrol: Begin },
  listeners: readonly Listener[],
  stop?: AbortSignal,
): Promise<void> {
  const definitionOf = definitionReader(deps.database);
  for (const listener of listeners) {
    if (stop?.aborted) return;
    const definition = await definitionOf(definitionIdOf(listener.flowId, listener.version));
    const trigger = definition?.trigger;
    if (trigger?.type !== 'dateProperty') continue;
    const now = deps.clock.now();
    const after = listener.scannedTo ?? now;
    if (!comesWithin(trigger.time, after, now)) continue;
    await scan(deps, listener, trigger, { after, upTo: now });
    await deps.database.query(SCANNED, [listener.flowId, new Date(now).toISOString()]);
  }
}

/** Whether a minute at which the time comes in some zone lies within (after, upTo]. */
export function comesWithin(time: string, after: number, upTo: number): boolean {
  const quarter = OFFSETS_MINUTES * MINUTE_MS;
  const phase = (Number(time.slice(3)) % OFFSETS_MINUTES) * MINUTE_MS;
  return Math.floor((upTo - phase) / quarter) > Math.floor((after - phase) / quarter);
}

async function scan(
  { database, enrol }: EnrolDeps & { readonly enrol: Begin },
  listener: Listener,
  trigger: DateTrigger,
  within: { readonly after: number; readonly upTo: number },
): Promise<void> {
  let below = '';
  for (;;) {
    const rows = await database.query<DatedRow>(CONTACTS, [
      ...[listener.workspaceId, listener.livemode, below, trigger.property],
    ]);
    const occurrences = rows.flatMap(({ id, value, zone, ofworkspace }): Occurrence[] => {
      const timeZone = zoneOf(zone === null ? {} : { timeZone: zone }, ofworkspace);
      return occurrencesOf(value, trigger, { ...within, timeZone }).map(({ day }) => ({
        ...{ contactId: id, key: `${id} ${day}`, eventId: null, position: '0', depth: 0 },
      }));
    });
    if (occurrences.length > 0) await enrol(listener, occurrences);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    below = last.id;
  }
}
