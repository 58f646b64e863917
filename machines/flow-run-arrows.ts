import { and } from 'xstate';
import { remembering, standingStill } from './flow-run-setup.ts';

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
