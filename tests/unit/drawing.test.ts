import { describe, expect, test } from 'bun:test';
import { createMachine, setup } from 'xstate';
import { draw } from '../../src/engine/drawing/moves.ts';
import { delayTable, moveTable, stateTable, toMermaid } from '../../src/engine/drawing/page.ts';
import { toStately } from '../../src/engine/drawing/source.ts';

const types = {
  context: {} as { tries: number },
  events: {} as { type: 'go.requested' } | { type: 'stop.requested' },
};
const parcel = setup({
  types,
  guards: { isReady: () => true, mayRetry: () => true },
  actions: { carry: () => {}, tell: (_, _params: { to: string }) => {} },
  delays: { patience: 5_000, lease: ({ context }) => context.tries },
}).createMachine({
  id: 'parcel',
  context: { tries: 0 },
  initial: 'packed',
  on: { 'stop.requested': { target: '.lost', actions: { type: 'tell', params: { to: 'sender' } } } },
  states: {
    packed: {
      description: 'Waits.',
      always: { guard: 'isReady', target: 'carried' },
      after: { patience: 'lost' },
    },
    carried: {
      entry: 'carry',
      on: { 'go.requested': [{ guard: 'mayRetry', target: 'carried', reenter: true }, { actions: 'carry' }] },
      after: { lease: 'lost' },
    },
    lost: { type: 'final', description: 'Gone.' },
  },
});
const drawing = draw(parcel);

test('the picture has the initial arrow, eventless and timed arrows, arrows of the root from each living state, and ends', () => {
  expect(toMermaid(drawing)).toBe(
    [
      'stateDiagram-v2',
      '  [*] --> packed',
      '  packed --> lost: stop.requested',
      '  carried --> lost: stop.requested',
      '  packed --> carried: [isReady]',
      '  packed --> lost: after patience',
      '  carried --> carried: go.requested [mayRetry]',
      '  carried --> carried: go.requested',
      '  carried --> lost: after lease',
      '  lost --> [*]',
    ].join('\n'),
  );
});

describe('the tables', () => {
  test('list states with their meaning and what entering them causes', () => {
    expect(stateTable(drawing)).toContain(
      '| `packed` | Waits. |  |\n| `carried` |  | `carry` |\n| `lost` (final) | Gone. |  |',
    );
  });

  test('list arrows with guards, effects and re-entered states', () => {
    expect(moveTable(drawing).split('\n').slice(2)).toEqual([
      '| any | `stop.requested` |  | `lost` | `tell` |',
      '| `packed` | at once | `isReady` | `carried` |  |',
      '| `packed` | `after patience` |  | `lost` |  |',
      '| `carried` | `go.requested` | `mayRetry` | `carried`, re-entered |  |',
      '| `carried` | `go.requested` |  | `carried` | `carry` |',
      '| `carried` | `after lease` |  | `lost` |  |',
    ]);
  });

  test('list delays, and are absent where there are none', () => {
    expect(delayTable(drawing)).toContain('| `patience` | 5000 ms |\n| `lease` | from context and event |');
    expect(
      delayTable(draw(createMachine({ id: 'still', initial: 'here', states: { here: {} } }))),
    ).toBeNull();
  });
});

test('the source for Stately is a machine that draws the same', () => {
  const config = /createMachine\((.*)\);\n$/s.exec(toStately(drawing))?.[1] ?? '';
  const { delays: _named, ...rest } = drawing;
  expect(draw(createMachine(JSON.parse(config)))).toMatchObject({ ...rest });
});
