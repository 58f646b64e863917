import type { Machine } from '../../modules/inspector/model.ts';

/** How a state feels: on its way, waiting for the clock, ended well or badly, or at rest. */
export type Tone = 'moving' | 'waiting' | 'good' | 'bad' | 'quiet';

const GOOD = new Set(['delivered', 'success', 'verified', 'active', 'completed', 'subscribed']);
const BAD = new Set(['failed', 'disabled', 'temporaryFailure', 'bounced', 'complained', 'expired']);
/** They have a timer, but it only guards an attempt that is under way. */
const BUSY = new Set(['sending', 'posting', 'processing', 'running']);

/** The tone of a state: by its name where that says it, else by its place in the machine. */
export function toneOf({ drawing, timed }: Machine, state: string): Tone {
  if (GOOD.has(state)) return 'good';
  if (BAD.has(state)) return 'bad';
  if (BUSY.has(state)) return 'moving';
  if (timed.includes(state)) return 'waiting';
  return drawing.states.some(({ name, final }) => name === state && final) ? 'quiet' : 'moving';
}
