import { expect, test } from 'bun:test';
import { FairPool } from '../../src/platform/threads/fair-pool.ts';
import { startThread } from '../../src/platform/threads/worker-pool.ts';

const LIMITS = { threads: 2, deadlineMs: 1_000, startMs: 1_000, mostWaiting: 8, idleMs: 1_000 };
const poolOf = () => new FairPool('Working', LIMITS, () => startThread(new URL('file:///none.ts')));

test('an owner holds one of two threads, and the next owner finds the other one free', async () => {
  const pool = poolOf();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const begun: number[] = [];
  const large = [1, 2, 3].map((n) =>
    pool.turn('large', async () => {
      begun.push(n);
      await held;
    }),
  );
  expect(await pool.turn('small', async () => 'done')).toBe('done');
  expect(await pool.turn('small', async () => 'again')).toBe('again');
  expect(begun).toEqual([1]);
  release();
  await Promise.all(large);
  expect(begun).toEqual([1, 2, 3]);
});

test('who waits when the pool is closed has no turn', async () => {
  const pool = poolOf();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = pool.turn('one', () => held.then(() => 'first'));
  const second = pool.turn('one', async () => 'second');
  pool.close();
  release();
  expect([await first, await second]).toEqual(['first', null]);
});
