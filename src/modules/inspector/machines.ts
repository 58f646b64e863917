import { type Drawing, draw } from '../../drawing/moves.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Machine } from './model.ts';

/** The machine of a kind as the live view draws it. */
export function machineOf({ name, idPrefix, machine }: Kind): Machine {
  const drawing = draw(machine);
  return {
    kind: name,
    idPrefix,
    drawing,
    transient: drawing.states.filter((state) => isTransient(drawing, state.name)).map((state) => state.name),
    timed: timedStates(drawing),
  };
}

/** True for a state that is left within the same step and therefore never stored. */
function isTransient({ moves }: Drawing, state: string): boolean {
  const leaving = moves.filter(({ from }) => from === state);
  return leaving.length > 0 && leaving.every(({ cause }) => cause === null);
}

/** The states with an `after`, whose actors always have a wake-up time. */
export const timedStates = ({ states, moves }: Drawing): string[] =>
  states
    .map(({ name }) => name)
    .filter((name) => moves.some(({ from, cause }) => from === name && cause?.startsWith('after ')));
