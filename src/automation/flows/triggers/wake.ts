import type { FlowRunEvent } from '../../../../machines/flow-run/context.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ActorRow } from '../../../engine/machine/storage.ts';
import { readColumns } from '../../../engine/store/actor-columns.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import type { Database } from '../../../platform/db/database.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { type FilterTime, SlowFilter, whoMatches } from '../definition/filters.ts';
import { flowRunKind } from '../kind.ts';
import { definitionReader } from '../runs/run-reader.ts';
import { heldFlows, readDefinitionId } from '../store.ts';
import type { FlowVersionRef, RunClock } from './enrol.ts';

/** A flow that waits for something to begin its runs. */
export interface Listener extends FlowVersionRef {
  readonly trigger: string;
  /** The id of an audience, or the name of an event; null where its trigger has neither. */
  readonly listensTo: string | null;
  /** Only entries behind this one in the log. */
  readonly since: string;
  /** The moment up to which its dates were read (epoch ms). */
  readonly scannedTo: number | null;
}

/** An entry in the activity of contacts. */
export interface Activity {
  readonly position: string;
  readonly id: string;
  readonly contactId: string;
  readonly livemode: boolean;
  readonly type: string;
  readonly subject: string | null;
  readonly depth: number;
  readonly importId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The test clock that follows it; null for the service's own time. */
  readonly testClockId: string | null;
}

/**
 * Sends the activity of contacts to the runs of these workspaces. Workspaces with slow filters are named in
 * `time`, and left out.
 */
export type Wake = (
  page: readonly Activity[],
  time: FilterTime,
  isFor: (workspaceId: string) => boolean,
  clock: Pick<RunClock, 'id' | 'now'> | null,
) => Promise<void>;

const OPEN = `select ${readColumns(flowRunKind)}, a.contact_id, a.awaits, a.step, a.context ->> 'occurrence' as occurrence, a.test_clock_id
from flow_runs a`;

/** Runs that wait for one of these names: by the index on the contact and the name. */
const AWAITING = `${OPEN} where a.awaits is not null and a.contact_id = any($1) and a.awaits = any($2)`;

const WATCHED = `${OPEN} where a.is_watched and a.ended_at is null and a.contact_id = any($1)`;

interface OpenRun extends ActorRow {
  readonly contact_id: string;
  readonly awaits: string | null;
  readonly step: string | null;
  readonly definition_id: string;
  readonly occurrence: string | null;
  readonly test_clock_id: string | null;
}

const flowOf = ({ definition_id }: OpenRun): string => readDefinitionId(definition_id)?.flowId ?? '';

/** An event, and its place in the page. */
interface PlacedEvent {
  readonly event: Activity;
  readonly place: number;
}

export interface WakeDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The runs that get an event, and its moment. */
interface EventTarget {
  readonly time: FilterTime;
  /** True for a run that gets the event. */
  isTold(run: OpenRun): boolean;
  now(): number;
}

/** The workspaces whose filters run at once: as many as brief reads have connections. */
const ASKED_AT_ONCE = 2;

/**
 * Makes the function that sends events to runs. It throws when an event could not be sent: the page is then
 * sent again.
 */
export function waker({ database, engine, clock, logger }: WakeDeps): Wake {
  const definitionOf = definitionReader(database);

  /**
   * The runs among these for which a filter of their version matches, with one statement for each version and
   * step.
   */
  async function matching<Pair extends { readonly run: OpenRun; readonly eventId: string | null }>(
    pairs: readonly Pair[],
    { time, now }: EventTarget,
    filterOf: (definition: NonNullable<Awaited<ReturnType<typeof definitionOf>>>, step: string) => unknown,
  ): Promise<readonly Pair[]> {
    const slots = new Semaphore(ASKED_AT_ONCE);
    const ofGroup = async (group: readonly Pair[]): Promise<readonly Pair[]> => {
      const [{ run }] = group as [Pair];
      const definition = await definitionOf(run.definition_id);
      if (!definition) return [];
      const asked = group.map((pair) => ({ contactId: pair.run.contact_id, eventId: pair.eventId }));
      const filter = filterOf(definition, run.step ?? '');
      const scope = { workspaceId: run.workspace_id, livemode: run.livemode };
      const answers = await whoMatches(database, scope, filter, asked, now(), time);
      return group.filter((_, index) => answers[index]);
    };
    const ofWorkspace = async (own: readonly Pair[]): Promise<readonly Pair[]> => {
      const found: Pair[] = [];
      const groups = Map.groupBy(own, ({ run }) => `${run.definition_id} ${run.step}`);
      try {
        for (const group of groups.values()) found.push(...(await ofGroup(group)));
      } catch (error) {
        // The filter is tried again where no other workspace waits: matches that were found already might
        // reach the run out of order.
        if (error instanceof SlowFilter) return [];
        throw error;
      }
      return found;
    };
    const workspaces = Map.groupBy(pairs, ({ run }) => run.workspace_id);
    const found = [...workspaces.values()].map((own) => slots.run(() => ofWorkspace(own)));
    return (await Promise.all(found)).flat();
  }

  /**
   * Sends each run the first event that it waits for, and asks again for the runs whose contacts have later
   * events.
   */
  async function wakeAwaiting(page: readonly Activity[], telling: EventTarget): Promise<void> {
    let events = page.flatMap((event, place) => (event.type === 'event' ? [{ event, place }] : []));
    const told = new Map<string, number>();
    while (events.length > 0) {
      const first = await firstFor(events, told, telling);
      const reached = new Map<string, number>();
      for (const { run, place } of first) {
        told.set(run.id, place);
        reached.set(run.contact_id, Math.min(place, reached.get(run.contact_id) ?? place));
      }
      const held = await heldAmong(first.map(({ run }) => run));
      await allTold(
        first.map(({ run, event: { subject, position } }) => {
          const isHeld = held.has(flowOf(run));
          const came = { type: 'event.came', at: telling.now(), name: subject ?? '', position } as const;
          return tell(run, isHeld ? { ...came, isHeld } : came);
        }),
      );
      events = events.filter(
        ({ event, place }) => place > (reached.get(event.contactId) ?? Number.POSITIVE_INFINITY),
      );
    }
  }

  const heldAmong = async (runs: readonly OpenRun[]): Promise<ReadonlySet<string>> =>
    runs.length === 0 ? new Set() : heldFlows(database, runs.map(flowOf));

  /** The first of these events that each run waits for, after the one that it got last. */
  async function firstFor(
    events: readonly PlacedEvent[],
    told: ReadonlyMap<string, number>,
    telling: EventTarget,
  ): Promise<readonly (PlacedEvent & { readonly run: OpenRun })[]> {
    const contacts = [...new Set(events.map(({ event }) => event.contactId))];
    const names = [...new Set(events.map(({ event }) => event.subject ?? ''))];
    const runs = (await database.query<OpenRun>(AWAITING, [contacts, names])).filter(telling.isTold);
    const byContact = Map.groupBy(runs, (run) => run.contact_id);
    const pairs = events.flatMap(({ event, place }) =>
      (byContact.get(event.contactId) ?? [])
        .filter(({ id, awaits }) => awaits === event.subject && place > (told.get(id) ?? -1))
        .map((run) => ({ run, event, place, eventId: event.id })),
    );
    const wanted = await matching(pairs, telling, ({ steps }, key) => {
      const step = steps.find((one) => one.key === key);
      return step?.type === 'waitForEvent' ? step.config.filter : undefined;
    });
    // The pairs are in the order of their places.
    const inOrder = wanted.toSorted((one, other) => one.place - other.place);
    return [...new Map(inOrder.toReversed().map((pair) => [pair.run.id, pair])).values()];
  }

  async function endWatched(page: readonly Activity[], telling: EventTarget): Promise<void> {
    const contacts = [...new Set(page.map(({ contactId }) => contactId))];
    const runs = (await database.query<OpenRun>(WATCHED, [contacts])).filter(telling.isTold);
    if (runs.length === 0) return;
    const pairs = runs.map((run) => ({ run, eventId: run.occurrence }));
    const over = await matching(pairs, telling, ({ exitWhen }) => exitWhen);
    await allTold(
      over.map(({ run }) => tell(run, { type: 'exit.requested', at: telling.now(), reason: 'goal' })),
    );
  }

  /**
   * Sends the event to a run as it was read. One that has moved on meanwhile may take the event all the same.
   */
  async function tell(run: OpenRun, event: FlowRunEvent): Promise<void> {
    const { outcome } = await engine.tellRead('flowRun', run, event);
    if (outcome === 'refused') await engine.tell('flowRun', run.id, event);
  }

  /** A run that cannot take its event does not keep others waiting; a database that is away does. */
  async function allTold(telling: readonly Promise<unknown>[]): Promise<void> {
    for (const result of await Promise.allSettled(telling)) {
      if (result.status === 'fulfilled') continue;
      if (result.reason instanceof UnavailableError) throw result.reason;
      logger.error({ err: result.reason }, 'A run could not get an activity of its contact.');
    }
  }

  return async (page, time, isFor, ownClock) => {
    const telling: EventTarget = {
      time,
      // A run takes only entries of the clock that it uses: entries of another clock are before or after it.
      isTold: ({ workspace_id, test_clock_id }) =>
        isFor(workspace_id) && !time.slow.has(workspace_id) && test_clock_id === (ownClock?.id ?? null),
      now: () => ownClock?.now ?? clock.now(),
    };
    await endWatched(page, telling);
    await wakeAwaiting(page, telling);
  };
}
