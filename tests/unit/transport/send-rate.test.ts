import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { SendRate } from '../../../src/mail/transport/direct/send-rate.ts';

let now = 0;
beforeEach(() => {
  now = 10_000;
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const PATIENT = new AbortController().signal;

/** Lets time pass for the timers and for the clock, and what was answered be told. */
async function pass(ms: number): Promise<void> {
  now += ms;
  jest.advanceTimersByTime(ms);
  for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
}

/** Asks for turns; answers the list of those that were told, in their order. */
function ask(rate: SendRate, names: string, signal = PATIENT): string[] {
  for (const name of names)
    void rate.next(signal).then((may) => {
      told.push(may ? name : `not ${name}`);
    });
  return told;
}
let told: string[] = [];
beforeEach(() => {
  told = [];
});

test('a minute has no more turns than allowed, after the turns of one second', async () => {
  const rate = new SendRate(120, () => now);
  ask(rate, 'abcde');
  await pass(0);
  expect(told.join('')).toBe('abc');
  await pass(499);
  expect(told.join('')).toBe('abc');
  await pass(1);
  expect(told.join('')).toBe('abcd');
  await pass(500);
  expect(told.join('')).toBe('abcde');
});

test('a caller who gives up leaves the turn to the next, and no later one is delayed by it', async () => {
  const rate = new SendRate(60, () => now);
  const impatient = new AbortController();
  ask(rate, 'ab');
  await pass(0);
  expect(told).toEqual(['a', 'b']);
  ask(rate, 'cdefg', impatient.signal);
  ask(rate, 'h');
  await pass(500);
  impatient.abort();
  await pass(500);
  expect(told).toEqual(['a', 'b', 'not c', 'not d', 'not e', 'not f', 'not g', 'h']);
  await pass(1_000);
  ask(rate, 'i');
  await pass(0);
  expect(told.at(-1)).toBe('i');
});

test('no turn is given to a caller who has given up before, and nothing is planned without a waiting caller', async () => {
  const rate = new SendRate(60, () => now);
  expect(await rate.next(AbortSignal.abort())).toBe(false);
  ask(rate, 'ab');
  const impatient = new AbortController();
  ask(rate, 'c', impatient.signal);
  expect(jest.getTimerCount()).toBe(1);
  impatient.abort();
  expect(jest.getTimerCount()).toBe(0);
});

test('another rate holds from the turn after the next', async () => {
  const rate = new SendRate(60, () => now);
  ask(rate, 'abcd');
  await pass(0);
  expect(told.join('')).toBe('ab');
  rate.resize(30);
  await pass(1_000);
  expect(told.join('')).toBe('abc');
  await pass(1_000);
  expect(told.join('')).toBe('abc');
  await pass(1_000);
  expect(told.join('')).toBe('abcd');
});
