import { describe, expect, test } from 'bun:test';
import { lifecycles } from '../../machines/catalogue.ts';
import { emailMachine } from '../../machines/email/machine.ts';
import { layoutsOf } from '../../scripts/dashboard/layout.ts';
import {
  arrowsOf,
  labelOf,
  linesOfStep,
  START,
  stayingIn,
  transientStates,
} from '../../src/engine/drawing/arrows.ts';
import type { Box } from '../../src/engine/drawing/layout.ts';
import { draw } from '../../src/engine/drawing/moves.ts';

const email = draw(emailMachine);
const drawings = lifecycles.map(({ machine }) => draw(machine));

describe('the way of a step on the diagram', () => {
  test('begins at the start and goes through states that are passed through at once', () => {
    expect(linesOfStep(email, { from: null, event: 'spawned', to: 'scheduled' })).toEqual([
      '* → accepted',
      'accepted → scheduled',
    ]);
  });

  test('is one line where an arrow leads there', () => {
    expect(linesOfStep(email, { from: 'scheduled', event: 'after.due', to: 'sending' })).toEqual([
      'scheduled → sending',
    ]);
    expect(linesOfStep(email, { from: 'sent', event: 'report.received', to: 'delivered' })).toEqual([
      'sent → delivered',
    ]);
  });

  test('passes through a state that was never stored', () => {
    expect(linesOfStep(email, { from: 'sending', event: 'after.lease', to: 'failed' })).toEqual([
      'sending → gaveUp',
      'gaveUp → failed',
    ]);
  });

  test('is no line where the state stayed, or nothing is known of it', () => {
    expect(linesOfStep(email, { from: 'delivered', event: 'report.received', to: 'delivered' })).toEqual([]);
    expect(linesOfStep(email, { from: 'cancelled', event: 'sent.again', to: 'sending' })).toEqual([]);
  });
});

test('every move of every machine is an arrow or stays in its state', () => {
  for (const drawing of drawings) {
    const shown = [
      ...arrowsOf(drawing).flatMap(({ moves }) => moves),
      ...drawing.states.flatMap(({ name }) => stayingIn(drawing, name)),
    ];
    const spread = drawing.moves.reduce(
      (sum, { from }) => sum + (from === '*' ? drawing.states.filter(({ final }) => !final).length : 1),
      0,
    );
    expect(shown).toHaveLength(spread);
  }
});

test('states that are never stored are found', () => {
  expect(transientStates(email)).toEqual(['accepted', 'gaveUp']);
});

test('a label says each cause once, and guards as words', () => {
  const move = { from: 'a', to: 'b', reenters: false, effects: [] };
  const label = labelOf({
    moves: [
      { ...move, cause: 'attempt.completed', guard: 'outcomesAreKnown' },
      { ...move, cause: 'attempt.completed', guard: null },
    ],
  });
  expect(label).toEqual([
    { text: 'attempt.completed', what: 'cause' },
    { text: 'if outcomes are known', what: 'guard' },
  ]);
});

describe('the layout', () => {
  const overlap = (a: Box, b: Box) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

  test('has a place for every state and a way for every arrow, and no two states overlap', async () => {
    const layouts = await layoutsOf(drawings);
    for (const drawing of drawings) {
      const layout = layouts[drawing.id];
      expect(Object.keys(layout?.states ?? {}).sort()).toEqual(
        [START, ...drawing.states.map(({ name }) => name)].sort(),
      );
      expect(layout?.lines.map(({ id }) => id).sort()).toEqual(
        arrowsOf(drawing)
          .map(({ id }) => id)
          .sort(),
      );
      for (const { points } of layout?.lines ?? []) expect(points.length).toBeGreaterThan(1);
      const boxes = Object.values(layout?.states ?? {});
      for (const [index, box] of boxes.entries())
        for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false);
    }
  });
});
