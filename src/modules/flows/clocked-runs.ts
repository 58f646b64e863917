import type { FlowRunContext, FlowRunEvent } from '../../../machines/flow-run-context.ts';
import type { Database } from '../../db/database.ts';
import type { ActorRow } from '../../engine/actors.ts';
import { type Clocked, clockedActors, type OwnClock } from '../../engine/clocked.ts';
import type { Engine } from '../../engine/engine.ts';
import { flowRunKind } from './kind.ts';
import { definitionReader } from './run-reader.ts';
import type { TakeStep } from './take-step.ts';

/**
 * The most steps that a run takes by a test clock. In real time a run that waits a minute and begins anew takes a year for half a million;
 * by a clock all of them would be taken at once.
 */
export const MOST_STEPS = 2_000;

const IDS = `select id from flow_runs where test_clock_id = $1 and workspace_id = $2 and ended_at is null and wake_at is not null order by id`;

/** The runs that live by test clocks, as the clocks move them. */
export function clockedRuns(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
  readonly takeStep: TakeStep;
}): Clocked {
  const { database, engine, takeStep } = deps;
  const definitionOf = definitionReader(database);

  const ids =
    ({ id, workspaceId }: OwnClock) =>
    async () =>
      (await database.query<{ id: string }>(IDS, [id, workspaceId])).map((row) => row.id);

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
    return takeStep(
      {
        ...{ runId: row.id, context, definition, step, visit, attempt },
        scope: { workspaceId: row.workspace_id, livemode: row.livemode },
      },
      { now: () => at, clock: { id: testClockId, now: at } },
    );
  }

  return clockedActors(deps, {
    ...{ kind: flowRunKind, name: 'flowRun', ids, isUnderWay },
    async perform(row) {
      for (const event of await eventsOf(row)) await engine.tell('flowRun', row.id, event);
    },
    async end({ id, context }, at) {
      const own = context as FlowRunContext;
      await engine.tell('flowRun', id, { type: 'cancel.requested', at: Math.max(at ?? own.at, own.at) });
    },
  });
}
