import { expect, test } from 'bun:test';
import { type Lifecycle, lifecycles } from '../../machines/catalogue.ts';
import { transientStates } from '../../src/engine/drawing/arrows.ts';
import { draw } from '../../src/engine/drawing/moves.ts';
import { decidedFor, decodeState } from '../../src/engine/machine/kind.ts';

test.each(lifecycles.map((lifecycle): [string, Lifecycle] => [lifecycle.name, lifecycle]))(
  'the stored states of %s are those that its machine does not leave at once',
  (_, { machine, states }) => {
    const drawing = draw(machine);
    const passing = transientStates(drawing);
    const stored = drawing.states.map(({ name }) => name).filter((name) => !passing.includes(name));
    expect([...states]).toEqual(stored);
  },
);

test('a name that a newer version has stored is refused with what to do, not taken for another', () => {
  expect(decodeState({ states: ['open', 'shut'] }, 'shut')).toBe('shut');
  expect(() => decodeState({ states: ['open', 'shut'] }, 'ajar')).toThrow('Update this instance.');
  expect(() => decidedFor({ open: 1 }, 'toString')).toThrow('A newer version');
});
