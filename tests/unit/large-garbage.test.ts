import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { LargeGarbage } from '../../src/platform/threads/large-garbage.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const counted = () => {
  const seen = { collected: 0 };
  return { seen, garbage: new LargeGarbage(() => seen.collected++, 100) };
};

test('what large values leave behind is collected once it is as much as it may be, in a later turn', () => {
  const { seen, garbage } = counted();
  for (const octets of [0, 60, 39, 0]) garbage.add(octets);
  jest.advanceTimersByTime(10);
  expect(seen.collected).toBe(0);
  garbage.add(1);
  // Those who tell it hold it still.
  expect(seen.collected).toBe(0);
  jest.advanceTimersByTime(1);
  expect(seen.collected).toBe(1);
  jest.advanceTimersByTime(10_000);
  expect(seen.collected).toBe(1);
});

test('however much goes by, it is collected once a second', () => {
  const { seen, garbage } = counted();
  for (let tenth = 0; tenth < 50; tenth++) {
    garbage.add(500);
    jest.advanceTimersByTime(100);
  }
  expect(seen.collected).toBe(5);
  // The rest of the last second goes at its end.
  jest.advanceTimersByTime(10_000);
  expect(seen.collected).toBe(6);
});
