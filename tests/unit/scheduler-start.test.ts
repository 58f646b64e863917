import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import pino from 'pino';
import { Scheduler } from '../../src/engine/runtime/timers/scheduler.ts';
import { OpenStore } from '../../src/engine/store/open-store.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The number of looks of the clock, 200 ms after its start. */
async function looksOf(told: (wakeUps: Scheduler) => void): Promise<number> {
  let looks = 0;
  const query = async (text: string) => {
    if (text.startsWith('with due')) looks++;
    return [];
  };
  const clock = { now: () => 1_780_000_000_000, monotonic: () => 0 };
  const database = { query } as unknown as Database;
  const store = new OpenStore(emailKind, { database, clock });
  const wakeUps = new Scheduler(
    database,
    clock,
    [{ store, room: () => 1, wake: async () => ({ left: [], isContested: false }) }],
    pino({ enabled: false }),
  );
  told(wakeUps);
  wakeUps.start();
  await wakeUps.settled();
  jest.advanceTimersByTime(200);
  await wakeUps.settled();
  await wakeUps.stop();
  return looks;
}

test('a scheduler that hears of abandoned inserts before its start looks for them from the start', async () => {
  const untold = await looksOf(() => {});
  expect(untold).toBeGreaterThan(0);
  expect(await looksOf((wakeUps) => wakeUps.lookForAbandoned(true))).toBeGreaterThan(untold);
  const takenBack = await looksOf((wakeUps) => {
    wakeUps.lookForAbandoned(true);
    wakeUps.lookForAbandoned(false);
  });
  expect(takenBack).toBe(untold);
});
