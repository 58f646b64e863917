import { expect, test } from 'bun:test';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { measuredThread, ownThread, timeOfThread } from '../../src/platform/threads/thread-time.ts';
import {
  JobTimeout,
  type PoolWorker,
  PossibleTimeout,
  WorkerPool,
} from '../../src/platform/threads/worker-pool.ts';
import { eventually } from '../support/eventually.ts';

/** A thread that never answers, whose time is counted under that number. */
const silent = (number: string | null) => () => {
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  const worker = {
    gone: Promise.resolve(),
    next: async () => ({ ready: number }),
    ask: () => ended.promise,
    end: (reason: Error) => ended.reject(reason),
  };
  return worker as unknown as PoolWorker<string, string>;
};
const LIMITS = { threads: 1, deadlineMs: 20, startMs: 10_000, mostWaiting: 8, idleMs: 60_000 };

test('a thread that is kept starts before the first question, answers the next ones, and does not retire', async () => {
  let started = 0;
  const ended: number[] = [];
  const start = () => {
    const number = started++;
    return {
      gone: Promise.resolve(),
      next: async () => ({ ready: null }),
      ask: async () => ({ answer: number }),
      end: () => ended.push(number),
    } as unknown as PoolWorker<string, number>;
  };
  const pool = new WorkerPool<string, number>('Reading', { ...LIMITS, threads: 2, idleMs: 0 }, start);
  pool.keepOne();
  expect(started).toBe(1);
  // Two at once start another thread, which retires; whichever ends last, the kept one answers what comes
  // then.
  expect(await Promise.all([pool.ask('a'), pool.ask('b')])).toEqual([0, 1]);
  await eventually('the other retires', () => (ended.length === 1 ? true : undefined));
  expect([await pool.ask('c'), await pool.ask('d'), started, ended]).toEqual([0, 0, 2, [1]]);
  pool.close();
});

/** The end of a question while this thread works on. */
async function endOf(number: string | null): Promise<unknown> {
  const pool = new WorkerPool<string, string>('Reading', LIMITS, silent(number));
  let reason: unknown;
  void pool.ask('x').catch((thrown: unknown) => {
    reason = thrown;
  });
  while (reason === undefined) {
    for (const begun = performance.now(); performance.now() < begun + 5; );
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  pool.close();
  return reason;
}

test('a question whose thread has used up its time has taken too long', async () => {
  const own = measuredThread();
  if (own === null) return console.warn('Not run: this system does not count the time of a thread.');
  expect(await endOf(own)).toBeInstanceOf(JobTimeout);
});

test('where the time of a thread is not counted, a busy process makes the service unavailable and blames no question', async () => {
  const reason = await endOf(null);
  expect(reason).toBeInstanceOf(PossibleTimeout);
  expect(reason).toBeInstanceOf(UnavailableError);
});

test('a thread has a number where its time is counted', () => {
  const own = measuredThread();
  if (own === null) return console.warn('Not run: this system does not count the time of a thread.');
  expect(own).toBe(ownThread() as string);
  expect(timeOfThread(own)).toBeLessThanOrEqual(timeOfThread(null));
});
