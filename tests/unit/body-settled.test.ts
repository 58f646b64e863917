import { expect, test } from 'bun:test';
import { settledOf } from '../../src/engine/bodies/collector.ts';
import type { Database } from '../../src/platform/db/database.ts';

/** A database that is never without a transaction that writes: each ends before the next question but one. */
function busy(lowestOf: (number: bigint) => bigint) {
  let asked = 0;
  const database = {
    query: async () => {
      asked++;
      const number = BigInt(10 * asked);
      return [{ at: 1_000_000 + asked, number: `${number}`, lowest: `${lowestOf(number)}` }];
    },
  } as unknown as Database;
  const clock = { now: () => 0, monotonic: () => performance.now() };
  return { deps: { database, clock }, asked: () => asked };
}

test('what is settled becomes known although some transaction always writes', async () => {
  const { deps, asked } = busy((number) => number - 1n);
  expect(await settledOf(deps as never, undefined, 0)).toBe(1_000_001 - 1_000);
  expect(asked()).toBe(2);
});

test('a transaction that stays open leaves it unknown', async () => {
  const { deps } = busy(() => 1n);
  expect(await settledOf(deps as never, undefined, 0)).toBeNull();
});

test('a stop ends the questions', async () => {
  const { deps, asked } = busy(() => 1n);
  expect(await settledOf(deps as never, AbortSignal.abort(), 0)).toBeNull();
  expect(asked()).toBe(0);
});
