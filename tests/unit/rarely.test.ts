import { expect, test } from 'bun:test';
import { type Rarity, rarely } from '../../src/platform/telemetry/rarely.ts';

/** The log of a warning a second for so many seconds. */
function loggedOf(seconds: number, rarity?: Rarity): readonly unknown[] {
  let now = 0;
  const logged: unknown[] = [];
  const warn = rarely({ warn: (fields) => void logged.push(fields) }, () => now, rarity);
  for (now = 0; now < seconds * 1_000; now += 1_000) warn({ at: now / 1_000 }, 'Again.');
  return logged;
}

test('a warning that comes again and again is logged once a minute, with how often it came', () => {
  expect(loggedOf(120)).toEqual([{ at: 0 }, { at: 60, alsoSinceThen: 59 }]);
});

test('of more than a window takes, the first are logged, and the rest is counted once', () => {
  expect(loggedOf(21, { everyMs: 10_000, most: 3 })).toEqual([
    { at: 0 },
    { at: 1 },
    { at: 2 },
    { at: 10, alsoSinceThen: 7 },
    { at: 11 },
    { at: 12 },
    { at: 20, alsoSinceThen: 7 },
  ]);
});

test('what fills a window exactly leaves nothing to count', () => {
  expect(loggedOf(6, { everyMs: 3_000, most: 3 })).toEqual([0, 1, 2, 3, 4, 5].map((at) => ({ at })));
});
