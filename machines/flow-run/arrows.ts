import { and } from 'xstate';
import type { EndStatus } from './context.ts';
import { logged, remembering, settling, standingStill } from './setup.ts';

/** A guard as XState reads it. */
export type Guard = string | { readonly type: string; readonly params: unknown };
/** An arrow as XState reads it. */
export interface Arrow {
  readonly target?: string;
  readonly guard?: unknown;
  readonly actions?: readonly unknown[];
  readonly reenter?: boolean;
}

/** Open where all of these hold. */
export const guarded = (guards: readonly Guard[]): { readonly guard?: unknown } =>
  guards.length === 0 ? {} : { guard: guards.length === 1 ? guards[0] : and(guards as never) };

/** A run that is postponed or held is at one of its steps. */
export const standsAt = (step: string): Guard => ({ type: 'standsAt', params: { step } });

/** What a waiting comes to while the flow holds its runs. */
export const STAYING: Arrow = { guard: 'isHeld', target: 'held', actions: [standingStill] };
/** What the event comes to that a held run waits for, where it would end the run. */
export const remembered = (guards: readonly Guard[]): Arrow => ({
  ...guarded(guards),
  target: 'held',
  actions: [remembering],
});

/** A run ends once, whichever arrow led there. */
const ended = (status: EndStatus, description: string): object => ({
  description,
  entry: [{ type: 'end', params: { status } }],
});

/** By a step of its own, or for want of one: nothing is under way, and nothing can come any more. */
export const finalState = (status: EndStatus, description: string): object => ({
  ...{ type: 'final' },
  ...ended(status, description),
});

/**
 * From outside, perhaps amidst a step: its email has left, its request was posted. The run does not go on from there, but what
 * the step came to is told in the log, once.
 */
export const endedAmidst = (status: EndStatus, description: string): object => ({
  ...ended(status, description),
  on: {
    'step.done': { guard: 'stepIsOpen', actions: [logged(), settling] },
    'step.failed': { guard: 'stepIsOpen', actions: [logged('failed'), settling] },
    // It was tried, and nobody knows better what came of it.
    'step.postponed': {
      guard: 'stepWasTried',
      actions: [logged('failed: no success before its end'), settling],
    },
  },
});
