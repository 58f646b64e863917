import { eq } from 'drizzle-orm';
import type { FlowTrigger } from '../../../../machines/flow-run/definition.ts';
import { occurrencesOf } from '../../../../machines/flow-run/time.ts';
import { flows } from '../../../platform/db/schema/flows.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { FilterTime, SlowFilter } from '../definition/filters.ts';
import { definitionReader, zoneOf } from '../runs/run-reader.ts';
import { definitionIdOf } from '../store.ts';
import type { Enrol, EnrolDeps, Occurrence } from './enrol.ts';
import type { Listener } from './wake.ts';

/** Contacts that are looked through together. */
const PAGE = 2_000;
/**
 * The wait before a flow with a slow filter is tried again, with a quarter of the contacts. With a single
 * contact it is tried so often.
 */
const SLOW_MS = 60_000;
const MOST_TRIES = 3;
/** The time that a filter may take: other flows wait behind it. */
const FILTER_MS = 1_000;
/** The work of one run, of which there is one a second. */
const BUDGET_MS = 300;
const MINUTE_MS = 60_000;
/** Every offset of a time zone is a multiple of so many minutes. */
const OFFSETS_MINUTES = 15;

/**
 * The next contacts of an environment: those that have the property, and the last one read, as the next
 * cursor even where few have it.
 */
const CONTACTS = `with page as materialized (
  select id, properties from contacts where workspace_id = $1 and livemode = $2::boolean and id > $3 order by id limit $5::integer
), looked as materialized (select max(id) as last, count(*)::integer as count from page)
select p.id, p.properties ->> $4 as value, p.properties ->> 'timeZone' as zone, w.time_zone as ofworkspace, l.count as looked
from page p cross join looked l join workspaces w on w.id = $1
where p.properties ->> $4 is not null or p.id = l.last
order by p.id`;

interface DatedRow {
  readonly id: string;
  readonly value: string | null;
  readonly zone: string | null;
  readonly ofworkspace: string;
  readonly looked: number;
}

/** The trigger of a flow that begins on dates. */
export type DateTrigger = FlowTrigger & { readonly type: 'dateProperty' };

/** The services that looking through dates calls. */
export interface DatedDeps extends EnrolDeps {
  readonly logger: Logger;
  readonly enrol: Enrol;
}

/**
 * A walk through contacts that is under way: the moment of its dates, and the contact after which it
 * continues.
 */
interface Walk {
  readonly upTo: number;
  readonly below: string;
  /** Contacts that are looked through together: fewer once the filter has taken long. */
  readonly size: number;
  readonly tries: number;
  /** It rests until then (monotonic ms). */
  readonly restsUntil: number;
}

/**
 * Begins the runs whose day has come. A time of day comes in some zone every quarter of an hour at most, so
 * contacts are read only at those minutes; minutes that were missed are made up for.
 */
export class Dates {
  /**
   * By the version of a flow. The instance that follows next begins them again: no contact begins twice for a
   * day.
   */
  readonly #walks = new Map<string, Walk>();
  /** When each workspace had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(private readonly deps: DatedDeps) {}

  /**
   * Works for a while, so that the activity of contacts is not kept waiting; the workspaces take turns. A
   * flow that cannot be read is logged and left out.
   */
  async begin(listeners: readonly Listener[], stop?: AbortSignal): Promise<void> {
    const { database, clock, logger } = this.deps;
    const definitionOf = definitionReader(database);
    const end = clock.monotonic() + BUDGET_MS;
    const turnOf = ({ workspaceId }: Listener) => this.#turns.get(workspaceId) ?? 0;
    for (const listener of listeners.toSorted((one, other) => turnOf(one) - turnOf(other))) {
      const id = definitionIdOf(listener.flowId, listener.version);
      const trigger = (await definitionOf(id))?.trigger;
      if (trigger?.type !== 'dateProperty') continue;
      const now = clock.now();
      const after = listener.scannedTo ?? now;
      const kept = this.#walks.get(id);
      // Another instance may have ended it, or the flow was activated again.
      let walk: Walk | null =
        kept && kept.upTo > after ? kept : { upTo: now, below: '', size: PAGE, tries: 0, restsUntil: 0 };
      if (!comesWithin(trigger.time, after, walk.upTo)) continue;
      if (walk.restsUntil > clock.monotonic()) continue;
      this.#turns.set(listener.workspaceId, ++this.#turn);
      const { upTo } = walk;
      try {
        while (walk && !stop?.aborted && clock.monotonic() < end) {
          walk = await this.#proceed(listener, trigger, after, walk);
          if (walk) this.#walks.set(id, walk);
        }
      } catch (error) {
        if (error instanceof UnavailableError) throw error;
        if (error instanceof SlowFilter) return this.#rest(id, walk as Walk, error, listener);
        logger.error(
          { err: error, flow: listener.flowId },
          'The dates of a flow cannot be read; they are skipped.',
        );
        walk = null;
      }
      if (walk) return;
      this.#walks.delete(id);
      await database.read((orm) =>
        orm
          .update(flows)
          .set({ scannedTo: new Date(upTo) })
          .where(eq(flows.id, listener.flowId)),
      );
    }
  }

  /** One page; null behind the last one. */
  async #proceed(listener: Listener, trigger: DateTrigger, after: number, walk: Walk): Promise<Walk | null> {
    const { upTo, below, size } = walk;
    const { database } = this.deps;
    const rows = await database.query<DatedRow>(CONTACTS, [
      listener.workspaceId,
      listener.livemode,
      below,
      trigger.property,
      size,
    ]);
    const occurrences = rows.flatMap(({ id, value, zone, ofworkspace }): Occurrence[] => {
      const timeZone = zoneOf(zone === null ? {} : { timeZone: zone }, ofworkspace);
      return occurrencesOf(value ?? '', trigger, { after, upTo, timeZone }).map(({ day }) => ({
        contactId: id,
        key: `${id} ${day}`,
        eventId: null,
        position: '0',
        depth: 0,
      }));
    });
    if (occurrences.length > 0) await this.#enrol(listener, occurrences, walk);
    const last = rows.at(-1);
    const next = { upTo, size: Math.min(size * 2, PAGE), tries: 0, restsUntil: 0 };
    return last && last.looked === size ? { ...next, below: last.id } : null;
  }

  /**
   * Contacts that cannot begin keep no others from their day; a database that is away does, and a filter that
   * takes long for a while.
   */
  async #enrol(listener: Listener, occurrences: readonly Occurrence[], { size, tries }: Walk): Promise<void> {
    const { enrol, clock, logger } = this.deps;
    const leavesOut = size === 1 && tries >= MOST_TRIES;
    const monotonic = () => clock.monotonic();
    const time = new FilterTime({ monotonic, mostMs: FILTER_MS, isBrief: true, leavesOut });
    try {
      await enrol(listener, occurrences, { filters: time });
    } catch (error) {
      if (error instanceof UnavailableError || error instanceof SlowFilter) throw error;
      logger.error({ err: error, flow: listener.flowId }, 'A flow cannot begin its runs; they are skipped.');
    }
    const slow = time.slow.get(listener.workspaceId);
    if (slow)
      logger.error({ err: slow, flow: listener.flowId }, 'A filter takes too long: a contact is skipped.');
  }

  #rest(id: string, walk: Walk, err: SlowFilter, { flowId }: Listener): void {
    const { clock, logger } = this.deps;
    const restsUntil = clock.monotonic() + SLOW_MS;
    const { size } = walk;
    const tries = size === 1 ? walk.tries + 1 : 0;
    this.#walks.set(id, { ...walk, size: Math.ceil(size / 4), tries, restsUntil });
    logger.warn({ err, flow: flowId }, 'The filter of a flow is slow: its dates are checked later.');
  }
}

/** Tells whether a minute at which the time comes in some zone lies within (after, upTo]. */
export function comesWithin(time: string, after: number, upTo: number): boolean {
  const quarter = OFFSETS_MINUTES * MINUTE_MS;
  const phase = (Number(time.slice(3)) % OFFSETS_MINUTES) * MINUTE_MS;
  return Math.floor((upTo - phase) / quarter) > Math.floor((after - phase) / quarter);
}
