import type { Scope } from '../../../audience/contacts/queries.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Database } from '../../../platform/db/database.ts';
import { mintId } from '../../../platform/db/ids.ts';
import { isDuplicate } from '../../../platform/db/sqlstate.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { type Clock, DAY_MS, isoOf } from '../../../platform/time/clock.ts';
import { type FilterTime, whoMatches } from '../definition/filters.ts';
import { definitionReader, zoneOf } from '../runs/run-reader.ts';
import { LEASE_MS } from '../runs/take-step.ts';
import { definitionIdOf } from '../store.ts';

/** The services that starting runs calls. */
export interface EnrolDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  /**
   * Called with a flow and the number of replies that begin no run of it, because their contacts have had too
   * many on this day.
   */
  readonly tooMany?: ((flowId: string, replies: number) => void) | undefined;
}

/** Something that may begin a run. */
export interface Occurrence {
  readonly contactId: string;
  /** The permanent name of the occurrence: sent twice, it begins one run. */
  readonly key: string;
  /** The entry in the contact's activity; null where there is none. */
  readonly eventId: string | null;
  /** Its place in the log. */
  readonly position: string;
  /** The number of flows that have begun one another before it. */
  readonly depth: number;
}

/** The test clock by which runs begin, and the moment that it shows. */
export interface RunClock {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * Admits so many runs more, or refuses once the test clock has had too many.
   * @throws UnavailableError
   */
  admit(count: number): Promise<Failure | null>;
}

/** The clock by which runs begin, and the time for their filters. */
export interface EnrolTime {
  readonly filters?: FilterTime;
  /** The service's own time when left out. Contacts of a test clock begin by none but theirs. */
  readonly clock?: RunClock | null;
  /** Called when the clock takes no more runs. */
  refused?(failure: Failure): void;
}

/** The flow that gets the occurrences. */
export interface FlowVersionRef extends Scope {
  readonly flowId: string;
  readonly version: number;
}

/** Flows that begin one another end here. */
export const DEEPEST = 5;

/**
 * Runs of a contact in one flow within a day, after which no reply begins another: a program may answer each
 * email of a run.
 */
export const MOST_BY_REPLIES = 10;

/**
 * Finds the contacts that may begin now: none once the flow was paused, none twice for one occurrence, none
 * with an open run, and none again where that is not allowed. All of it is looked up one by one, and runs by
 * the occurrence and by the contact: a plan that was made for empty tables compared each contact with every
 * other in the workspace and in the flow. Only the primary key gives the order that is asked for, else any
 * index that begins with the workspace would do.
 */
const FREE = `select a.ord, c.properties, w.time_zone, $7::timestamptz is not null and coalesce((
    select coalesce(r.clock_started_at, r.started_at) > $7::timestamptz from flow_runs r
    where r.contact_id = a.contact_id and (r.flow_id = $4) is true order by r.id desc offset ${MOST_BY_REPLIES - 1} limit 1
  ), false) as "isTooMany"
from json_to_recordset($1::text::json) as a(ord integer, contact_id text, key text)
join workspaces w on w.id = $2
join flows f on f.id = $4 and f.status = 'active' and f.deleted_at is null
cross join lateral (
  select properties from contacts
  where workspace_id = $2 and livemode = $3::boolean and id >= a.contact_id and id <= a.contact_id order by id limit 1
) c
where (select r.id from flow_runs r where r.occurrence_key = a.key and (r.flow_id = $4) is true limit 1) is null
  and (
    select r.id from flow_runs r where r.contact_id = a.contact_id and r.ended_at is null and (r.flow_id = $4) is true limit 1
  ) is null
  and not ($5::boolean and (
    select e.contact_id from flow_entrants e where e.flow_id = $4 and e.contact_id = a.contact_id limit 1
  ) is not null)
  and ($3::boolean or $6::boolean or (select t.contact_id from test_clock_contacts t where t.contact_id = a.contact_id limit 1) is null)`;

interface FreeRow {
  readonly ord: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly time_zone: string;
  readonly isTooMany: boolean;
}

/** Starts runs of a flow. */
export type Enrol = (
  beginning: FlowVersionRef,
  occurrences: readonly Occurrence[],
  time?: EnrolTime,
) => Promise<readonly string[]>;

/**
 * Starts a run for each occurrence that its flow takes, and returns their ids. Failures are thrown, and the
 * caller may repeat the whole: a run that has begun does not begin twice.
 * @throws UnavailableError, and SlowFilter where filters have a limited time
 */
export function enroller({ database, engine, clock, tooMany }: EnrolDeps): Enrol {
  const definitionOf = definitionReader(database);

  return async (beginning, occurrences, { filters, clock: ownClock = null, refused } = {}) => {
    const { flowId, version, workspaceId, livemode } = beginning;
    const definitionId = definitionIdOf(flowId, version);
    const definition = await definitionOf(definitionId);
    const each = occurrences.filter(({ depth }) => depth < DEEPEST);
    if (!definition || each.length === 0) return [];
    const matches = await whoMatches(
      database,
      beginning,
      definition.trigger.filter,
      each,
      ownClock?.now ?? clock.now(),
      filters,
    );
    const matching = each.filter((_, index) => matches[index]);
    // Only the first of each contact: it has one open run at a time.
    const wanted = [...new Map(matching.toReversed().map((one) => [one.contactId, one])).values()];
    if (wanted.length === 0) return [];
    const once = definition.reentry === 'never';
    const since =
      definition.trigger.type === 'replied' ? isoOf((ownClock?.now ?? clock.now()) - DAY_MS) : null;
    const unbounded = await database.query<FreeRow>(FREE, [
      JSON.stringify(wanted.map(({ contactId, key }, ord) => ({ ord, contact_id: contactId, key }))),
      workspaceId,
      livemode,
      flowId,
      once,
      ownClock !== null,
      since,
    ]);
    const free = unbounded.filter(({ isTooMany }) => !isTooMany);
    if (free.length < unbounded.length) tooMany?.(flowId, unbounded.length - free.length);
    const full = ownClock && free.length > 0 ? await ownClock.admit(free.length) : null;
    if (full) {
      refused?.(full);
      return [];
    }
    const spawned = free.map(async ({ ord, properties, time_zone }) => {
      const { contactId, key, eventId, position, depth } = wanted[ord] as Occurrence;
      const realNow = clock.now();
      const at = ownClock?.now ?? realNow;
      const id = mintId('run', realNow);
      const { outcome } = await engine.spawn('flowRun', {
        id,
        workspaceId,
        livemode,
        definitionId,
        input: {
          at,
          leaseMs: LEASE_MS,
          contactId,
          occurrence: eventId,
          seen: position,
          depth,
          timeZone: zoneOf(properties, time_zone),
          ...(ownClock && { testClockId: ownClock.id }),
        },
        columns: {
          started_at: new Date(realNow).toISOString(),
          test_clock_id: ownClock?.id ?? null,
          clock_started_at: ownClock && new Date(at).toISOString(),
          flow_id: flowId,
          flow_version: version,
          contact_id: contactId,
          occurrence_key: key,
          is_watched: definition.exitWhen != null,
          is_once: once,
          begins_flow_id: flowId,
        },
        bytes: 1_500,
      });
      // The flow was paused meanwhile.
      return outcome === 'withheld' ? [] : [id];
    });
    const settled = await Promise.allSettled(spawned);
    return settled.flatMap((result) => {
      if (result.status === 'fulfilled') return result.value;
      // Another instance was faster.
      if (isDuplicate(result.reason)) return [];
      throw result.reason;
    });
  };
}
