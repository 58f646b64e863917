import type { Drawing, DrawnState, Move } from './moves.ts';

/** Writes XState source with names instead of implementations, for Stately's editor or visualizer. */
export function toStately(drawing: Drawing): string {
  const { id, initial, states, moves } = drawing;
  const config = {
    id,
    initial,
    ...transitionsOf(moves.filter(({ from }) => from === '*')),
    states: Object.fromEntries(states.map((state) => [state.name, stateOf(state, moves)])),
  };
  return `import { createMachine } from 'xstate';\n\nexport const machine = createMachine(${JSON.stringify(config, null, 2)});\n`;
}

function stateOf({ name, description, final, effects }: DrawnState, moves: readonly Move[]): object {
  return {
    ...(description === '' ? {} : { description }),
    ...(final ? { type: 'final' } : {}),
    ...(effects.length === 0 ? {} : { entry: effects }),
    ...transitionsOf(moves.filter(({ from }) => from === name)),
  };
}

function transitionsOf(moves: readonly Move[]): object {
  const always = moves.filter(({ cause }) => cause === null);
  const timed = moves.filter(({ cause }) => cause?.startsWith('after '));
  const events = moves.filter((move) => !always.includes(move) && !timed.includes(move));
  return {
    ...(always.length === 0 ? {} : { always: always.map(transitionOf) }),
    ...(events.length === 0 ? {} : { on: byCause(events) }),
    ...(timed.length === 0 ? {} : { after: byCause(timed) }),
  };
}

function byCause(moves: readonly Move[]): object {
  const groups = Map.groupBy(moves, ({ cause }) => (cause ?? '').replace(/^after /, ''));
  return Object.fromEntries([...groups].map(([cause, group]) => [cause, group.map(transitionOf)]));
}

const transitionOf = ({ from, to, reenters, guard, effects }: Move): object => ({
  ...(to === '*' || (to === from && !reenters) ? {} : { target: from === '*' ? `.${to}` : to }),
  ...(reenters ? { reenter: true } : {}),
  ...(guard === null ? {} : { guard }),
  ...(effects.length === 0 ? {} : { actions: effects }),
});
