import { expect, test } from 'bun:test';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { BORN } from '../support/engine-email-model.ts';
import { completed, outcome, sending } from '../support/observed-email.ts';

// Anyone who has an email can follow its links at will: these tests show what is recorded.

const SECOND = 1_000;

function sent() {
  const email = sending();
  email.tell(completed(BORN, 1, outcome(0, 'accepted'), outcome(1, 'accepted')));
  return {
    email,
    /** True when the visit is recorded. */
    visit: (at: number, type: 'opened' | 'clicked' = 'opened', more: object = {}): boolean =>
      email.tell({
        type: 'report.received',
        at: BORN + at,
        report: { type, recipient: 0, link: 1, data: {}, ...more },
      } as ActorEvent),
  };
}

test('a repeated open or click within ten seconds counts once, also when the clock is set back', () => {
  const { email, visit } = sent();
  expect([20, 20, 29.999, 10.001].map((at) => visit(at * SECOND))).toEqual([true, false, false, false]);
  expect([30, 39.999, 40].map((at) => visit(at * SECOND))).toEqual([true, false, true]);
  expect(email.recorded.filter(({ type }) => type === 'opened').map(({ at }) => at - BORN)).toEqual([
    20_000, 30_000, 40_000,
  ]);
});

test('opens and clicks are counted apart by link, kind and recipient', () => {
  const { visit } = sent();
  expect([
    visit(1, 'clicked'),
    visit(2, 'opened'),
    visit(3, 'clicked', { link: 2 }),
    visit(4, 'clicked', { recipient: 1 }),
    visit(5, 'clicked', { link: 2 }),
  ]).toEqual([true, true, true, true, false]);
});

test('a hundred opens and a hundred clicks of each recipient are recorded, and a complaint after that', () => {
  const { email, visit } = sent();
  for (const recipient of [0, 1])
    for (const type of ['opened', 'clicked'] as const) {
      const recorded = Array.from({ length: 120 }, (_, n) =>
        visit(n * 60 * SECOND, type, { recipient, link: n % 3 }),
      );
      expect(recorded.filter(Boolean).length).toBe(100);
      expect(recorded.lastIndexOf(true)).toBe(99);
    }
  expect(visit(8_000 * SECOND, 'opened', { type: 'complained' })).toBeTrue();
  expect(email.context.recipients[0]?.lastEvent).toBe('complained');
  expect(JSON.stringify(email.context.recipients[0]).length).toBeLessThan(300);
});

test('opens and clicks reported without a link are counted each', () => {
  const { visit } = sent();
  expect(Array.from({ length: 120 }, () => visit(1, 'opened', { link: undefined }))).not.toContain(false);
});
