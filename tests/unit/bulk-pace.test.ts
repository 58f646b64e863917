import { beforeEach, expect, test } from 'bun:test';
import { Semaphore } from '../../src/platform/async/semaphore.ts';
import { BulkPace } from '../../src/sending/emails/bulk/bulk-pace.ts';

const MOST = 64;
let now = 0;
let slots: Semaphore;
let pace: BulkPace;
let looks = 0;
/** The duration of each look at the heap. */
let collectingMs = 0;

beforeEach(() => {
  now = 0;
  looks = 0;
  collectingMs = 0;
  slots = new Semaphore(MOST, () => now);
  const look = (): void => {
    looks++;
    now += collectingMs;
  };
  pace = new BulkPace([slots], MOST, () => now, { look });
  pace.otherCame();
  pace.begin();
  // The test ticks.
  pace.stop();
});

/** So many stretches of five looks, of which each comes late by so much, with other mail or without. */
const stretches = (count: number, lateMs: number, areOthersAbout = true): void => {
  for (let tick = 0; tick < 5 * count; tick++) {
    now += 20 + lateMs;
    if (areOthersAbout) pace.otherCame();
    pace.tick();
  }
};

/** The number that may be under way. */
const units = (): number => slots.taken + slots.free;

test('fewer emails of campaigns are under way while the event loop comes late, and all again when it does not', () => {
  expect(units()).toBe(32);
  stretches(40, 0);
  expect(units()).toBe(MOST);
  stretches(1, 9);
  expect(units()).toBe(44);
  stretches(20, 9);
  expect(units()).toBe(32);
  stretches(1, 8);
  expect(units()).toBe(36);
  stretches(40, 0);
  expect(units()).toBe(MOST);
});

test('without other mail there are twice as many as slots, and the first that comes to a late loop makes them few at once', () => {
  stretches(20, 9);
  expect(units()).toBe(32);
  stretches(9, 9, false);
  expect(units()).toBe(2 * MOST);
  pace.otherCame();
  expect(units()).toBe(32);
  stretches(4, 0);
  expect(units()).toBeGreaterThan(32);
  stretches(40, 0, false);
  expect(units()).toBe(2 * MOST);
  pace.otherCame();
  expect(units()).toBe(MOST);
});

test('a campaign that begins without other mail has all of it at once', () => {
  now += 1_000;
  pace.begin();
  pace.stop();
  expect(units()).toBe(2 * MOST);
});

test('one late look is enough for its stretch, and none for the next', () => {
  stretches(40, 0);
  now += 200;
  pace.tick();
  for (let tick = 0; tick < 4; tick++) {
    now += 20;
    pace.tick();
  }
  expect(units()).toBe(44);
  stretches(1, 0);
  expect(units()).toBe(49);
});

test('the heap is looked at twice a second, and what its collection takes keeps no email back', () => {
  stretches(40, 0);
  expect(looks).toBe(8);
  collectingMs = 50;
  stretches(10, 0);
  expect([looks, units()]).toEqual([10, MOST]);
});

test('nothing is let in beyond a size that has become smaller', async () => {
  const sized = new Semaphore(3);
  expect([sized.tryTake(), sized.tryTake(), sized.tryTake()]).toEqual([true, true, true]);
  sized.resize(1);
  expect([sized.taken, sized.capacity === Number.POSITIVE_INFINITY]).toEqual([3, true]);
  let isIn = false;
  const waiting = Promise.resolve(sized.take()).then(() => {
    isIn = true;
  });
  sized.release();
  sized.release();
  await Promise.resolve();
  expect([isIn, sized.taken, sized.waiting]).toEqual([false, 1, 1]);
  sized.release();
  await waiting;
  expect([isIn, sized.taken]).toEqual([true, 1]);
  sized.release();
  sized.resize(3);
  expect(sized.idle).toBeTrue();
});
