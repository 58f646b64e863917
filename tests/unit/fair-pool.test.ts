import { expect, test } from 'bun:test';
import { FairPool } from '../../src/platform/threads/fair-pool.ts';
import { startThread } from '../../src/platform/threads/worker-pool.ts';
import { eventually } from '../support/eventually.ts';

const LIMITS = { threads: 2, deadlineMs: 1_000, startMs: 1_000, mostWaiting: 8, idleMs: 1_000 };
const poolOf = () => new FairPool('Working', LIMITS, () => startThread(new URL('file:///none.ts')));

test('one owner has all threads while no other one waits; the next owner has the first that is free again', async () => {
  const pool = poolOf();
  const begun: string[] = [];
  const jobs = [1, 2, 3, 4].map((n) => ({ name: `large ${n}`, ...Promise.withResolvers<void>() }));
  const large = jobs.map(({ name, promise }) =>
    pool.turn('large', async () => {
      begun.push(name);
      await promise;
    }),
  );
  await eventually('two are under way', () => begun.length === 2 || undefined);
  const small = pool.turn('small', async () => void begun.push('small'));
  jobs[0]?.resolve();
  await small;
  expect(begun.slice(0, 3)).toEqual(['large 1', 'large 2', 'small']);
  for (const { resolve } of jobs) resolve();
  await Promise.all(large);
  expect(begun.slice(3)).toEqual(['large 3', 'large 4']);
});

test('who waits when the pool is closed has no turn', async () => {
  const pool = poolOf();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const working = [1, 2].map((n) => pool.turn('one', () => held.then(() => n)));
  const waiting = pool.turn('one', async () => 3);
  pool.close();
  release();
  expect(await Promise.all([...working, waiting])).toEqual([1, 2, null]);
});
