import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import pino from 'pino';
import { startDuties } from '../../src/engine/duties/schedule.ts';

const NOW = Date.parse('2026-11-29T12:00:00.500Z');
const logger = pino({ enabled: false });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Lets what timers have begun go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/**
 * The times that a duty of each second, which always has work, asks other instances for help within twenty
 * seconds.
 */
async function helpFor(lastsMs: number | Error): Promise<number> {
  let [passed, helped] = [0, 0];
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  const run = async () => {
    if (lastsMs instanceof Error) throw lastsMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push({ at: passed + lastsMs, end: resolve });
    await promise;
  };
  const schedule = startDuties([{ name: 'eachSecond', pattern: '* * * * * *', asks: () => 'true', run }], {
    logger,
    isAlone: () => true,
    onStuck: () => void helped++,
    clock: { now: () => NOW + passed, monotonic: () => passed },
    database: { kind: 'postgres', worked: 0, query: async () => [{ '0': true }] } as never,
  });
  for (let ms = 0; ms < 20_000; ms += 50) {
    passed += 50;
    for (const { at, end } of ends) if (at <= passed) end();
    jest.advanceTimersByTime(50);
    await turns();
  }
  for (const { end } of ends) end();
  await schedule.stop();
  return helped;
}

test('a duty that fails has other instances look for its work', async () => {
  expect(await helpFor(new Error('The disk is full.'))).toBeGreaterThan(0);
});

test('so does one that runs for eight seconds', async () => {
  expect(await helpFor(8_000)).toBeGreaterThan(0);
});

test('one that needs its three seconds asks no one for help', async () => {
  expect(await helpFor(3_000)).toBe(0);
});
