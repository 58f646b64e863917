import type { FlowRunContext, FlowRunEvent } from '../../../../machines/flow-run/context.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ActorRow } from '../../../engine/machine/storage.ts';
import {
  type ClockedActors,
  type ClockedKind,
  clockedActors,
  type OwnClock,
} from '../../../engine/runtime/clocked.ts';
import type { FairQueue } from '../../../platform/async/fair-slots.ts';
import type { Database } from '../../../platform/db/database.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { flowRunKind } from '../kind.ts';
import { PASSED_OVER_MS } from '../runs/performer.ts';
import { definitionReader } from '../runs/run-reader.ts';
import type { TakeStep } from '../runs/take-step.ts';

/**
 * The most steps that a run takes by a test clock. In real time a run that waits a minute and begins again
 * takes a year for half a million; by a clock all of them would be taken at once.
 */
export const MOST_STEPS = 2_000;
/** The most steps before a post by a test clock: in real time a receiver has a minute between two posts. */
export const MOST_BEFORE_POST = 200;

const OF_CLOCK =
  'select id from flow_runs where test_clock_id = $1 and workspace_id = $2 and ended_at is null';
const WAITING = `${OF_CLOCK} and wake_at is not null order by id`;
/** Runs of a paused flow wait for nothing, but end with the clock. */
const HELD = `${OF_CLOCK} and state = 'held' order by id`;

/** The runs on test clocks, as the clocks move them. */
export function clockedRuns(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
  readonly takeStep: TakeStep;
  /** The queue for receivers outside this service, shared with the runs of real time. */
  readonly posts: Pick<FairQueue, 'take' | 'isClosed'>;
}): ClockedActors {
  const { database, engine, takeStep, posts } = deps;
  const definitionOf = definitionReader(database);

  const idsBy =
    (sql: string) =>
    ({ id, workspaceId }: OwnClock) =>
    async () =>
      (await database.query<{ id: string }>(sql, [id, workspaceId])).map((row) => row.id);

  const isUnderWay = ({ state, context }: ActorRow): boolean => {
    const { status, step, visit } = context as FlowRunContext;
    return (status === 'running' && state === step) || visit > MOST_STEPS;
  };

  async function eventsOf(row: ActorRow): Promise<readonly FlowRunEvent[]> {
    const context = row.context as FlowRunContext;
    const { visit, attempt, at, testClockId = '' } = context;
    if (visit > MOST_STEPS) return [{ type: 'exit.requested', at, reason: 'test_clock_limit' }];
    const definition = await definitionOf(row.definition_id ?? '');
    const step = definition?.steps.find(({ key }) => key === context.step);
    if (!definition || !step) return [];
    if (step.type === 'webhook' && visit > MOST_BEFORE_POST)
      return [{ type: 'exit.requested', at, reason: 'test_clock_limit' }];
    const carried = () =>
      takeStep(
        {
          runId: row.id,
          context,
          definition,
          step,
          visit,
          attempt,
          scope: { workspaceId: row.workspace_id, livemode: row.livemode },
        },
        { now: () => at, clock: { id: testClockId, now: at } },
      );
    if (step.type !== 'webhook') return carried();
    const events = await posts.take(row.workspace_id, carried);
    // The instance that moves the clock next does it at the same moment, so that the journal shows nothing of
    // the stop.
    if (events === null && posts.isClosed) throw new UnavailableError('The service is stopping.');
    return events ?? [{ type: 'step.postponed', at, visit, until: at + PASSED_OVER_MS, isUntried: true }];
  }

  const kind: ClockedKind = {
    kind: flowRunKind,
    name: 'flowRun',
    ids: idsBy(WAITING),
    isUnderWay,
    async perform(row) {
      for (const event of await eventsOf(row)) await engine.tell('flowRun', row.id, event);
    },
    async end({ id, context }, at) {
      const own = context as FlowRunContext;
      await engine.tell('flowRun', id, { type: 'cancel.requested', at: Math.max(at ?? own.at, own.at) });
    },
  };
  const runs = clockedActors(deps, kind);
  const held = clockedActors(deps, { ...kind, ids: idsBy(HELD) });
  return {
    open: runs.open,
    async close(clock, at) {
      await runs.close(clock, at);
      await held.close(clock, at);
    },
  };
}
