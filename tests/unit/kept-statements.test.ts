import { expect, test } from 'bun:test';
import { KeptStatements } from '../../src/platform/db/server/kept-statements.ts';

const MINUTE = 60_000;

test('connections do without names for longer, up to an hour, each time that one was forgotten', () => {
  let now = 0;
  const kept = new KeptStatements(() => now);
  expect(kept.areOn).toBe(true);
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect([kept.forgotten(), kept.areOn]).toEqual([true, false]);
    now += minutes * MINUTE - 1;
    // Another one that was under way at the same time: that is known already.
    expect([kept.forgotten(), kept.areOn]).toEqual([false, false]);
    now += 1;
    expect(kept.areOn).toBe(true);
  }
});

test('behind a pooler that has lost one, connections do without names for good', () => {
  let now = 0;
  const kept = new KeptStatements(() => now);
  expect(kept.forgotten({ isPooled: true })).toBe(true);
  now += 365 * 24 * 60 * MINUTE;
  expect([kept.areOn, kept.forgotten({ isPooled: true })]).toEqual([false, false]);
});
