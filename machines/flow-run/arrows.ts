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

/** The end of a wait while the flow holds its runs. */
export const STAYING: Arrow = { guard: 'isHeld', target: 'held', actions: [standingStill] };
/** The awaited event of a held run, where that event would end the run. */
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

/**
 * An end inside the flow, by a step or for want of one: nothing is under way, and no further event can come.
 */
export const finalState = (status: EndStatus, description: string): object => ({
  type: 'final',
  ...ended(status, description),
});

/**
 * An end from outside, perhaps amidst a step whose email has left or whose request was posted. The run goes
 * no further, but the log records the step's outcome once.
 */
export const endedAmidst = (status: EndStatus, description: string): object => ({
  ...ended(status, description),
  on: {
    'step.done': { guard: 'stepIsOpen', actions: [logged(), settling] },
    'step.failed': { guard: 'stepIsOpen', actions: [logged('failed'), settling] },
    // The step was tried, and its outcome remains unknown.
    'step.postponed': {
      guard: 'stepWasTried',
      actions: [logged('failed: no success before its end'), settling],
    },
  },
});
