import type { FlowTrigger } from '../../../machines/flow-definition.ts';
import { occurrencesOf } from '../../../machines/flow-time.ts';
import { Unavailable } from '../../errors/unavailable.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { EnrolDeps, Occurrence } from './enrol.ts';
import { definitionReader, zoneOf } from './run-reader.ts';
import { definitionIdOf } from './store.ts';
import type { Listener } from './wake.ts';

type Begin = (listener: Listener, occurrences: readonly Occurrence[]) => Promise<unknown>;

/** Contacts that are looked through together. */
const PAGE = 2_000;
/** The work of one run, of which there is one a second. */
const BUDGET_MS = 300;
const MINUTE_MS = 60_000;
/** Every offset of a time zone is a multiple of so many minutes. */
const OFFSETS_MINUTES = 15;

/** The next contacts of an environment: those that have the property, and the last, to go on behind it. However few there are. */
const CONTACTS = `with page as materialized (
  select id, properties from contacts where workspace_id = $1 and livemode = $2::boolean and id > $3 order by id limit ${PAGE}
), looked as materialized (select max(id) as last, count(*)::integer as count from page)
select p.id, p.properties ->> $4 as value, p.properties ->> 'timeZone' as zone, w.time_zone as ofworkspace, l.count as looked
from page p cross join looked l join workspaces w on w.id = $1
where p.properties ->> $4 is not null or p.id = l.last
order by p.id`;

const SCANNED = `update flows set scanned_to = $2::timestamptz where id = $1`;

interface DatedRow {
  readonly id: string;
  readonly value: string | null;
  readonly zone: string | null;
  readonly ofworkspace: string;
  readonly looked: number;
}

type DateTrigger = FlowTrigger & { readonly type: 'dateProperty' };

/** The services that looking through dates calls. */
export interface DatedDeps extends EnrolDeps {
  readonly logger: Logger;
  readonly enrol: Begin;
}

/** A walk through contacts that is under way: up to which moment, and behind which contact it goes on. */
interface Walk {
  readonly upTo: number;
  readonly below: string;
}

/**
 * Begins the runs whose day has come. A time of the day comes in some zone every quarter of an hour at the most, so contacts are
 * looked through only at those minutes; what was missed meanwhile is made up for.
 */
export class Dates {
  /** By the version of a flow. Whoever follows next begins them anew: nobody begins twice for a day. */
  readonly #walks = new Map<string, Walk>();

  constructor(private readonly deps: DatedDeps) {}

  /** Goes on for a while, so that what contacts do is not kept waiting. A flow that cannot be asked is told, and left out. */
  async begin(listeners: readonly Listener[], stop?: AbortSignal): Promise<void> {
    const { database, clock, logger } = this.deps;
    const definitionOf = definitionReader(database);
    const end = clock.monotonic() + BUDGET_MS;
    for (const listener of listeners) {
      const id = definitionIdOf(listener.flowId, listener.version);
      const trigger = (await definitionOf(id))?.trigger;
      if (trigger?.type !== 'dateProperty') continue;
      const now = clock.now();
      const after = listener.scannedTo ?? now;
      const kept = this.#walks.get(id);
      // Another instance may have ended it, or the flow was activated anew.
      let walk: Walk | null = kept && kept.upTo > after ? kept : { upTo: now, below: '' };
      if (!comesWithin(trigger.time, after, walk.upTo)) continue;
      const { upTo } = walk;
      try {
        while (walk && !stop?.aborted && clock.monotonic() < end) {
          walk = await this.#proceed(listener, trigger, after, walk);
          if (walk) this.#walks.set(id, walk);
        }
      } catch (error) {
        if (error instanceof Unavailable) throw error;
        logger.error(
          { err: error, flow: listener.flowId },
          'The dates of a flow cannot be read; they are left out.',
        );
        walk = null;
      }
      if (walk) return;
      this.#walks.delete(id);
      await database.query(SCANNED, [listener.flowId, new Date(upTo).toISOString()]);
    }
  }

  /** One page; null behind the last one. */
  async #proceed(
    listener: Listener,
    trigger: DateTrigger,
    after: number,
    { upTo, below }: Walk,
  ): Promise<Walk | null> {
    const { database, enrol } = this.deps;
    const rows = await database.query<DatedRow>(CONTACTS, [
      ...[listener.workspaceId, listener.livemode, below, trigger.property],
    ]);
    const occurrences = rows.flatMap(({ id, value, zone, ofworkspace }): Occurrence[] => {
      const timeZone = zoneOf(zone === null ? {} : { timeZone: zone }, ofworkspace);
      return occurrencesOf(value ?? '', trigger, { after, upTo, timeZone }).map(({ day }) => ({
        ...{ contactId: id, key: `${id} ${day}`, eventId: null, position: '0', depth: 0 },
      }));
    });
    if (occurrences.length > 0) await enrol(listener, occurrences);
    const last = rows.at(-1);
    return last && last.looked === PAGE ? { upTo, below: last.id } : null;
  }
}

/** Whether a minute at which the time comes in some zone lies within (after, upTo]. */
export function comesWithin(time: string, after: number, upTo: number): boolean {
  const quarter = OFFSETS_MINUTES * MINUTE_MS;
  const phase = (Number(time.slice(3)) % OFFSETS_MINUTES) * MINUTE_MS;
  return Math.floor((upTo - phase) / quarter) > Math.floor((after - phase) / quarter);
}
