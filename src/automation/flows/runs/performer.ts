import type { FlowRunContext, FlowRunEvent } from '../../../../machines/flow-run/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import { FairQueue, type SlotLimits } from '../../../platform/async/fair-slots.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import { definitionReader } from './run-reader.ts';
import type { StepWorkDeps } from './steps.ts';
import { stepTaker } from './take-step.ts';

/**
 * Orders of this process that wait in memory or are carried out; orders beyond them are found again by their
 * lease. Of 20,000 the last had waited for longer than their leases where 300 were carried out a second, and
 * each was ordered once more meanwhile.
 */
const TAKEN = 4_000;
/** Orders that are carried out at once: as many as share the statements of a busy service. */
const SLOTS = 256;
/**
 * Steps that wait for receivers outside this service have their own slots, by turns of their workspaces. A
 * workspace whose receiver is silent takes at most half of the backlog, so that others keep theirs.
 */
export const POSTING: SlotLimits = { total: 256, perKey: 32, backlog: 1_000 };
/** A step that finds no slot there is tried again after this time. */
export const PASSED_OVER_MS = 300_000;

/** Carries out the orders of runs, so many at once. */
export function flowPerformer(deps: StepWorkDeps, posts = new FairQueue(POSTING)): Performer {
  const takeStep = stepTaker(deps);
  const time = { now: () => deps.clock.now(), clock: null };
  const definitionOf = definitionReader(deps.database);
  const slots = new Semaphore(SLOTS);
  let isStopped = false;

  async function perform(order: Order): Promise<readonly FlowRunEvent[]> {
    const { actor, effect } = order;
    const definition = await definitionOf(actor.definitionId ?? '');
    const context = actor.snapshot.context as FlowRunContext;
    const step = definition?.steps.find(({ key }) => key === context.step);
    if (!definition || !step) return [];
    const { visit, attempt } = effect.params as { readonly visit: number; readonly attempt: number };
    const carried = () =>
      takeStep({ runId: actor.id, scope: actor, context, definition, step, visit, attempt }, time);
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

  const stop = () => {
    isStopped = true;
    slots.stop();
    posts.close();
  };
  return { slots: TAKEN, backlog: 0, perform, stop };
}
