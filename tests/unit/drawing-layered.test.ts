import { expect, test } from 'bun:test';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { START } from '../../src/engine/drawing/arrows.ts';
import { layeredLayout } from '../../src/engine/drawing/layered.ts';
import type { Box } from '../../src/engine/drawing/layout.ts';
import { draw } from '../../src/engine/drawing/moves.ts';
import { generatedFlows } from '../support/generated-flows.ts';

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test('a machine that no build has laid out has a place for each state, and a line for each of its transitions', () => {
  for (const flow of generatedFlows(40)) {
    const drawing = draw(compileFlow(flow));
    const layout = layeredLayout(drawing);
    const names = [START, ...drawing.states.map(({ name }) => name)];
    expect(Object.keys(layout.states).toSorted()).toEqual(names.toSorted());
    const boxes = Object.values(layout.states);
    for (const [index, box] of boxes.entries()) {
      expect(boxes.slice(index + 1).some((other) => overlap(box, other))).toBeFalse();
      expect(
        box.x >= 0 && box.x + box.width <= layout.width && box.y + box.height <= layout.height,
      ).toBeTrue();
    }
    const lines = new Set(layout.lines.map(({ id }) => id));
    for (const { from, to } of flow.edges) expect(lines.has(`${from} → ${to}`) || from === to).toBeTrue();
    // A transition of every step has none; an ended one may only stay so.
    expect(
      [...lines].some((line) => line.endsWith('→ cancelled') && line !== 'cancelled → cancelled'),
    ).toBeFalse();
    expect(layeredLayout(drawing)).toEqual(layout);
  }
});
