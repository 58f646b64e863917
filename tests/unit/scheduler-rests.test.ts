import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import pino from 'pino';
import { Scheduler } from '../../src/engine/runtime/timers/scheduler.ts';
import { OpenStore } from '../../src/engine/store/open-store.ts';
import { untilNextTurn } from '../../src/platform/async/batcher.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { WorkCount } from '../../src/platform/db/work-count.ts';
import type { Agreement } from '../../src/platform/time/clock.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';

// An instance that is alone and did nothing looks every thirty seconds. Each test is about something for
// which it must not wait so long.

const NOW = 1_780_000_000_000;
let passed: number;
let leapt: number;
let asked: number[];
/** The answer to a look, once it is asked for; the database's own otherwise. */
let answer: (own: object[]) => Promise<object[]>;
let worked: number;
let markedAt: number;
let agreement: Agreement;
let room: number;
/** The times that others were told that there is no room here. */
let fulls: number;

beforeEach(() => {
  jest.useFakeTimers();
  [passed, leapt, asked, worked, markedAt, room, fulls] = [0, 0, [], 0, 0, 1, 0];
  agreement = { agrees: true, skewMs: 0, machineSkewMs: 0 };
  answer = async (own) => own;
});
afterEach(() => void jest.useRealTimers());

/** Lets the work that timers have begun go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await untilNextTurn();
}

async function pass(ms: number): Promise<void> {
  for (const end = passed + ms; passed < end; ) {
    passed += 100;
    jest.advanceTimersByTime(100);
    await turns();
  }
}

/** A scheduler that has been alone and at rest for some time. */
async function atRest(kind: Database['kind'] = 'postgres'): Promise<Scheduler> {
  const now = () => NOW + leapt + passed;
  const clock = {
    now,
    monotonic: () => passed,
    get agreement() {
      return agreement;
    },
  };
  let number = 0;
  const own = (text: string): object[] => {
    if (text.includes('pg_current_xact_id()::text')) {
      markedAt = passed;
      return [{ at: now(), number: String(++number), lowest: String(number) }];
    }
    return text.includes('as "0"') ? [{ at: now(), 0: null }] : [];
  };
  const database = {
    kind,
    get worked() {
      return worked;
    },
    async query(text: string) {
      asked.push(passed);
      return answer(own(text));
    },
  } as unknown as Database;
  const store = new OpenStore(emailKind, { database, clock });
  const scheduler = new Scheduler(
    database,
    clock,
    [{ store, waitsForRoom: true, room: () => room, wake: async () => ({ left: [], isContested: false }) }],
    pino({ enabled: false }),
    () => fulls++,
  );
  scheduler.expectOthers(false);
  scheduler.start();
  await turns();
  await pass(40_000);
  asked.splice(0);
  return scheduler;
}

/** The time until the next look from now on. */
async function nextLook(withinMs: number): Promise<number> {
  const [from, before] = [passed, asked.length];
  while (asked.length === before && passed < from + withinMs) await pass(100);
  return passed - from;
}

test('it looks twice a minute', async () => {
  const scheduler = await atRest();
  await pass(120_000);
  expect(new Set(asked).size).toBeWithin(3, 6);
  await scheduler.stop();
});

test.each([
  ['postgres', 31_000, 40_000],
  ['embedded', 601_000, 300_000],
] as const)('what a look on %s sees ahead has an alarm', async (kind, restMs, inMs) => {
  const scheduler = await atRest(kind);
  let dueAt = 0;
  answer = async (own) =>
    own.map((row) => {
      if (!('0' in row)) return row;
      dueAt ||= NOW + passed + inMs;
      return { ...row, 0: dueAt };
    });
  await nextLook(restMs);
  await pass(dueAt - NOW - passed - 200);
  const before = asked.length;
  await pass(400);
  expect(asked.length).toBeGreaterThan(before);
  await scheduler.stop();
});

test('after another instance has ended it looks at once, and every second for a while', async () => {
  const scheduler = await atRest();
  scheduler.stayAwake();
  expect(await nextLook(2_000)).toBeLessThanOrEqual(100);
  asked.splice(0);
  await pass(9_000);
  expect(new Set(asked).size).toBeGreaterThanOrEqual(8);
  await pass(10_000);
  asked.splice(0);
  await pass(20_000);
  expect(new Set(asked).size).toBeLessThan(4);
  await scheduler.stop();
});

test('it tells others once a second that there is no room for what is due', async () => {
  const scheduler = await atRest();
  room = 0;
  for (let n = 0; n < 100; n++) {
    scheduler.expect(NOW + passed);
    await pass(100);
  }
  expect(fulls).toBeWithin(8, 12);
  room = 1;
  await pass(2_000);
  fulls = 0;
  await pass(5_000);
  expect(fulls).toBe(0);
  await scheduler.stop();
});

test('while others live that it does not hear it looks every second', async () => {
  const scheduler = await atRest();
  scheduler.expectOthers(true);
  await pass(2_000);
  asked.splice(0);
  await pass(5_000);
  expect(new Set(asked).size).toBeGreaterThanOrEqual(4);
  await scheduler.stop();
});

test('a look that fails at an alarm is repeated soon', async () => {
  const scheduler = await atRest();
  const before = markedAt;
  while (markedAt === before) await pass(100);
  // The first of its statements asks which transactions have ended, twice a minute.
  await pass(20_000);
  scheduler.expect(NOW + markedAt + 25_000);
  await pass(6_000);
  scheduler.expect(NOW + markedAt + 31_000);
  await nextLook(3_900);
  answer = async () => {
    throw new Error('The connection was reset.');
  };
  expect(await nextLook(2_000)).toBeLessThanOrEqual(1_100);
  answer = async (own) => own;
  expect(await nextLook(10_000)).toBeLessThanOrEqual(2_600);
  await scheduler.stop();
});

test('an alarm while the clocks disagree is made up for as soon as they agree', async () => {
  const scheduler = await atRest();
  await nextLook(15_000);
  scheduler.expect(NOW + passed + 500);
  agreement = { ...agreement, agrees: false };
  await pass(1_000);
  agreement = { ...agreement, agrees: true };
  expect(await nextLook(10_000)).toBeLessThanOrEqual(2_600);
  await scheduler.stop();
});

test('a clock that is set forward is looked at soon', async () => {
  const scheduler = await atRest();
  await nextLook(15_000);
  leapt = 3_600_000;
  expect(await nextLook(10_000)).toBeLessThanOrEqual(2_600);
  await scheduler.stop();
});

test('an alarm amid a look is followed by another look', async () => {
  const scheduler = await atRest();
  const held = Promise.withResolvers<object[]>();
  answer = () => held.promise;
  await nextLook(15_000);
  scheduler.expect(NOW + passed + 200);
  await pass(500);
  const before = asked.length;
  answer = async (own) => own;
  held.resolve([{ at: NOW + passed, 0: null }]);
  await turns();
  expect(asked.length).toBeGreaterThan(before);
  await scheduler.stop();
});

test('a statement of this process ends the rest', async () => {
  const scheduler = await atRest();
  await nextLook(15_000);
  worked++;
  expect(await nextLook(10_000)).toBeLessThanOrEqual(6_000);
  await scheduler.stop();
});

test('a statement counts at its begin and at its end, also where it fails', async () => {
  const count = new WorkCount();
  const open = Promise.withResolvers<string>();
  const running = count.during(() => open.promise);
  expect(count.value).toBe(1);
  open.resolve('done');
  expect(await running).toBe('done');
  expect(count.value).toBe(2);
  await expect(count.during(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect(count.value).toBe(4);
});

test('a look that does not end, and those that fail, are late after five seconds', async () => {
  const scheduler = await atRest('embedded');
  await pass(300_000);
  expect(scheduler.health.status).toBe('ok');
  const { promise, resolve } = Promise.withResolvers<object[]>();
  answer = () => promise;
  scheduler.expect(NOW + passed);
  await pass(4_000);
  expect(scheduler.health.status).toBe('ok');
  await pass(2_000);
  expect(scheduler.health.status).toBe('late');
  answer = () => Promise.reject(new Error('The database is away.'));
  resolve([]);
  await pass(6_000);
  expect(scheduler.health.status).toBe('late');
  answer = async (own) => own;
  await pass(2_000);
  expect(scheduler.health.status).toBe('ok');
  await scheduler.stop();
});
