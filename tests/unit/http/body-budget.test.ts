import { expect, test } from 'bun:test';
import { BodyBudget } from '../../../src/platform/async/body-budget.ts';

const KB = 1_024;
const room = () => new BodyBudget({ total: 500 * KB, each: 300 * KB });

test('room for request bodies is shared among callers', () => {
  const all = room();
  expect(all.reserve('a').hold(300 * KB)).toBe(true);
  expect(all.reserve('a').hold(100 * KB)).toBe(false);
  expect(all.reserve('b').hold(200 * KB)).toBe(true);
  expect(all.reserve('c').hold(100 * KB)).toBe(false);
});

test('room for request bodies always admits small ones', () => {
  const all = room();
  all.reserve('a').hold(300 * KB);
  expect(all.reserve('a').hold(64 * KB)).toBe(true);
});

test('room for request bodies counts a chunked body once, and frees it at its end', () => {
  const all = room();
  const place = all.reserve('a');
  for (const so of [70, 150, 300]) expect(place.hold(so * KB)).toBe(true);
  expect(place.hold(301 * KB)).toBe(false);
  place.release();
  place.release();
  expect(place.hold(70 * KB)).toBe(false);
  expect(all.reserve('a').hold(300 * KB)).toBe(true);
});
