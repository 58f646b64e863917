import type { FlowDefinition, FlowStep } from '../../../machines/flow-definition.ts';
import type { FlowRunContext, FlowRunEvent } from '../../../machines/flow-run-context.ts';
import { FairQueue, type SlotLimits } from '../../async/fair-slots.ts';
import { Semaphore } from '../../async/semaphore.ts';
import type { Order } from '../../engine/draft.ts';
import type { Performer } from '../../engine/performers.ts';
import { whoMatches } from './filters.ts';
import { definitionReader, type RunRow, runReader, zoneOf } from './run-reader.ts';
import { LATER, type StepWork, type StepWorkDeps, workOf } from './steps.ts';

/**
 * Orders of this process that wait in memory or are carried out; what is beyond them is found again by its lease. Of 20,000 those that
 * came last had waited for longer than their leases where 300 were carried out a second, and each was ordered once more meanwhile.
 */
const TAKEN = 4_000;
/** Orders that are carried out at once: as many as share the statements of a busy service. */
const SLOTS = 256;
/**
 * Those that wait for the receivers of strangers have slots of their own, by turns of their workspaces. Of a workspace whose receiver is
 * silent at most half of the backlog waits, so that it keeps nobody from theirs.
 */
const POSTING: SlotLimits = { total: 256, perKey: 32, backlog: 1_000 };
/** What finds no place there comes again. */
const PASSED_OVER_MS = 300_000;

/** Waits before the next try of a step that could not be done, as webhooks have them. */
const BACKOFF_MS = [5_000, 30_000, 300_000, 1_800_000, 7_200_000] as const;

/** Until a step of an archived workspace asks again: somebody may have taken it back into use. */
const ARCHIVED_MS = 15 * 60_000;

/** The silence after which a step is done again. A request takes ten seconds at the most. */
export const LEASE_MS = 60_000;

/** Does what the steps of runs say. Whatever it does carries the run and the visit, so that doing it again changes nothing. */
export function flowPerformer(deps: StepWorkDeps, posting = POSTING): Performer {
  const reader = runReader(deps.database);
  const definitionOf = definitionReader(deps.database);
  const slots = new Semaphore(SLOTS);
  const posts = new FairQueue(posting);
  let isStopped = false;

  async function perform(order: Order): Promise<readonly FlowRunEvent[]> {
    const { actor } = order;
    const definition = await definitionOf(actor.definitionId ?? '');
    const { step: at } = actor.snapshot.context as FlowRunContext;
    const step = definition?.steps.find(({ key }) => key === at);
    if (!definition || !step) return [];
    const carried = () => carryOut(order, definition, step);
    if (step.type !== 'webhook') return inTurn(carried);
    const events = await posts.take(actor.workspaceId, carried);
    return events ?? (isStopped ? [] : [passedOver(order)]);
  }

  async function inTurn(work: () => Promise<readonly FlowRunEvent[]>): Promise<readonly FlowRunEvent[]> {
    if (!(await slots.take())) return [];
    try {
      return await work();
    } finally {
      slots.release();
    }
  }

  function passedOver({ effect }: Order): FlowRunEvent {
    const at = deps.clock.now();
    const { visit } = effect.params as { readonly visit: number };
    return { type: 'step.postponed', at, visit, until: at + PASSED_OVER_MS, isUntried: true };
  }

  async function carryOut(
    { actor, effect }: Order,
    definition: FlowDefinition,
    step: FlowStep,
  ): Promise<readonly FlowRunEvent[]> {
    const context = actor.snapshot.context as FlowRunContext;
    const { visit, attempt } = effect.params as { readonly visit: number; readonly attempt: number };
    // An order may have waited longer than its lease: then the one behind it counts, and may have been carried out.
    if (deps.clock.now() > context.at + context.leaseMs) return [];
    const row = await reader.ask(actor.id);
    const at = deps.clock.now();
    if (row?.visit !== visit || row.attempt !== attempt) return [];
    if (row.is_cancelled) return [{ type: 'cancel.requested', at }];
    if (row.is_held) return [{ type: 'step.held', at, visit }];
    if (row.is_archived)
      return [{ type: 'step.postponed', at, visit, until: at + ARCHIVED_MS, isUntried: true }];
    if (row.email === null) return [{ type: 'exit.requested', at, reason: 'contact_deleted' }];
    const work: StepWork = {
      ...{ runId: actor.id, visit, row, context, now: at },
      scope: { workspaceId: actor.workspaceId, livemode: actor.livemode },
    };
    if (await hasReachedItsGoal(deps, definition.exitWhen, work))
      return [{ type: 'exit.requested', at, reason: 'goal' }];
    return [await outcomeOf(deps, step, work)];
  }

  const stop = () => {
    isStopped = true;
    slots.stop();
    posts.close();
  };
  return { slots: TAKEN, backlog: 0, perform, stop };
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
  const { visit, context, row } = work;
  const done = await workOf(step, deps, work);
  const at = deps.clock.now();
  if (done !== LATER) {
    const { way = 'default', outcome, emailId = null } = done;
    return { type: 'step.done', at, visit, way, outcome, emailId, timeZone: zoneOfRow(row) };
  }
  const backoff = BACKOFF_MS[context.attempt - 1];
  if (backoff !== undefined) return { type: 'step.postponed', at, visit, until: at + backoff };
  return {
    type: 'step.done',
    ...{ at, visit, way: 'default', outcome: 'failed: no success after 6 attempts', emailId: null },
    timeZone: zoneOfRow(row),
  };
}

const zoneOfRow = ({ properties, time_zone }: RunRow): string => zoneOf(properties, time_zone);
