import type { FlowRunContext, FlowRunEvent } from '../../../../machines/flow-run/context.ts';
import type { FlowDefinition, FlowStep } from '../../../../machines/flow-run/definition.ts';
import type { Actor } from '../../../engine/machine/kind.ts';
import { whoMatches } from '../definition/filters.ts';
import { type RunRow, runReader, zoneOf } from './run-reader.ts';
import { LATER, type StepTime, type StepWork, type StepWorkDeps, workOf } from './steps.ts';

/** Waits before the next try of a step that could not be done, as webhooks have them. */
const BACKOFF_MS = [5_000, 30_000, 300_000, 1_800_000, 7_200_000] as const;

/** The time after which a step of an archived workspace asks again: an owner may have restored it. */
const ARCHIVED_MS = 15 * 60_000;

/** The silence after which a step is done again. A request takes at most ten seconds. */
export const LEASE_MS = 60_000;

/** A visit of a run to a step that is to be carried out. */
export interface Visit {
  readonly runId: string;
  readonly scope: Pick<Actor, 'workspaceId' | 'livemode'>;
  readonly context: FlowRunContext;
  readonly definition: FlowDefinition;
  readonly step: FlowStep;
  readonly visit: number;
  readonly attempt: number;
}

/**
 * Carries out a visit, and returns the events for the run.
 * @throws UnavailableError
 */
export type TakeStep = (visit: Visit, time: StepTime) => Promise<readonly FlowRunEvent[]>;

/**
 * Does the steps of runs. Every effect carries the run and the visit, so that a repetition changes nothing.
 */
export function stepTaker(deps: StepWorkDeps): TakeStep {
  const reader = runReader(deps.database);

  return async ({ runId, scope, context, definition, step, visit, attempt }, time) => {
    // An order may have waited longer than its lease: then the one behind it counts, and may have been
    // carried out.
    if (time.now() > context.at + context.leaseMs) return [];
    const row = await reader.ask(runId);
    const at = time.now();
    if (row?.visit !== visit || row.attempt !== attempt) return [];
    if (row.is_cancelled) return [{ type: 'cancel.requested', at }];
    if (row.is_held) return [{ type: 'step.held', at, visit }];
    if (row.is_archived)
      return [{ type: 'step.postponed', at, visit, until: at + ARCHIVED_MS, isUntried: true }];
    if (row.email === null) return [{ type: 'exit.requested', at, reason: 'contact_deleted' }];
    const work: StepWork = {
      runId,
      visit,
      row,
      context,
      now: at,
      time,
      answersReply: definition.trigger.type === 'replied',
      scope: { workspaceId: scope.workspaceId, livemode: scope.livemode },
    };
    if (await hasReachedItsGoal(deps, definition.exitWhen, work))
      return [{ type: 'exit.requested', at, reason: 'goal' }];
    return [await outcomeOf(deps, step, work)];
  };
}

async function hasReachedItsGoal(
  { database }: StepWorkDeps,
  exitWhen: unknown,
  { scope, row, context, now }: StepWork,
): Promise<boolean> {
  if (exitWhen === null || exitWhen === undefined) return false;
  const asked = [{ contactId: row.contact_id, eventId: context.occurrence }];
  const [matches = false] = await whoMatches(database, scope, exitWhen, asked, now);
  return matches;
}

async function outcomeOf(deps: StepWorkDeps, step: FlowStep, work: StepWork): Promise<FlowRunEvent> {
  const { visit, context, row, time } = work;
  const done = await workOf(step, deps, work);
  const at = time.now();
  if (done !== LATER) {
    const { way = 'default', outcome, emailId = null } = done;
    return { type: 'step.done', at, visit, way, outcome, emailId, timeZone: zoneOfRow(row) };
  }
  const backoff = BACKOFF_MS[context.attempt - 1];
  if (backoff !== undefined) return { type: 'step.postponed', at, visit, until: at + backoff };
  return {
    type: 'step.done',
    at,
    visit,
    way: 'default',
    outcome: 'failed: no success after 6 attempts',
    emailId: null,
    timeZone: zoneOfRow(row),
  };
}

const zoneOfRow = ({ properties, time_zone }: RunRow): string => zoneOf(properties, time_zone);
