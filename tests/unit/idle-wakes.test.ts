import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import pino from 'pino';
import { startDuties } from '../../src/engine/duties/schedule.ts';
import { LimitBook } from '../../src/mail/transport/limits/limit-book.ts';
import { HealthProbe } from '../../src/platform/db/server/health-probe.ts';
import { LimitKeeper } from '../../src/sending/emails/transports/learned-limits.ts';

// A timer that finds nothing to do wakes the first thread and the allocator's: ten a second were half of what
// an idle service cost.

const NOW = Date.parse('2026-11-27T12:00:00.500Z');
const logger = pino({ enabled: false });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Lets what timers have begun go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test('the watch of the database runs only while a statement is open', () => {
  const watch = new HealthProbe({ probe: async () => ({ seen: 'silent' }), replace: () => {} });
  expect(jest.getTimerCount()).toBe(0);
  const sent = watch.sent(() => 1);
  expect(jest.getTimerCount()).toBe(1);
  watch.answered(sent, { unheard: false });
  jest.advanceTimersByTime(100);
  expect(jest.getTimerCount()).toBe(0);
  watch.suspect();
  expect(jest.getTimerCount()).toBe(1);
  watch.stop();
  expect(jest.getTimerCount()).toBe(0);
  watch.sent(() => 1);
  expect(jest.getTimerCount(), 'a pool that is closed is not watched').toBe(0);
});

test('limits of servers are stored a second after something was found, and nothing wakes before', async () => {
  const stored: string[] = [];
  const query = async (text: string) => {
    if (text.includes('insert into learned_limits')) stored.push(text);
    return [];
  };
  const clock = { now: () => NOW, monotonic: () => 0 };
  const book = new LimitBook(clock);
  const keeper = new LimitKeeper({ database: { query } as never, clock, logger, book });
  await keeper.start();
  expect(jest.getTimerCount()).toBe(0);
  book.of({ transport: 'smtp', server: 'relay.test:25' }).refusedRecipient(40);
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(1_000);
  await turns();
  expect(stored).toHaveLength(1);
  expect(jest.getTimerCount()).toBe(0);
  await keeper.stop();
});

test('duties wake the process at their times, and otherwise some times a minute', async () => {
  let [passed, wakes, runs] = [0, 0, 0];
  const clock = {
    now: () => NOW + passed,
    monotonic: () => {
      wakes++;
      return passed;
    },
  };
  const database = { kind: 'postgres', worked: 0, query: async () => [] };
  const schedule = startDuties(
    [{ name: 'minutely', pattern: '20 * * * * *', run: async () => void runs++ }],
    { logger, clock, database: database as never, isAlone: () => true },
  );
  wakes = 0;
  for (let ms = 0; ms < 60_000; ms += 50) {
    passed += 50;
    jest.advanceTimersByTime(50);
    if (passed === 19_450) expect(runs).toBe(0);
    if (passed === 19_550) expect(runs, 'it runs at its time').toBe(1);
    await turns();
  }
  expect(runs).toBe(1);
  expect(wakes).toBeLessThan(30);
  await schedule.stop();
  expect(jest.getTimerCount()).toBe(0);
});

test('what a request wants is considered a quarter of a second later, once for all requests', async () => {
  const database = { kind: 'postgres', worked: 0, query: async () => [] };
  let [passed, isWanted, runs] = [0, false, 0];
  const schedule = startDuties(
    [
      {
        name: 'monthly',
        pattern: '0 0 0 1 * *',
        isWanted: () => isWanted,
        async run() {
          isWanted = false;
          runs++;
        },
      },
    ],
    {
      logger,
      database: database as never,
      isAlone: () => true,
      clock: { now: () => NOW + passed, monotonic: () => passed },
    },
  );
  passed += 300;
  jest.advanceTimersByTime(300);
  isWanted = true;
  for (let request = 0; request < 100; request++) schedule.consider();
  passed += 240;
  jest.advanceTimersByTime(240);
  expect(runs).toBe(0);
  passed += 20;
  jest.advanceTimersByTime(20);
  await turns();
  expect(runs).toBe(1);
  await schedule.stop();
});
