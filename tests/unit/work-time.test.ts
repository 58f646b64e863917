import { expect, test } from 'bun:test';
import { WorkTime } from '../../src/platform/async/deadline.ts';

const never = () => new Promise<never>(() => {});
const messageOf = (error: Error): string => error.message;

test('a limit on work does not count what others take', async () => {
  let now = 0;
  const time = new WorkTime(5, () => now);
  const body = Promise.withResolvers<string>();
  const work = time.limit(() => time.except(body.promise));
  // Far more than the limit passes, on the clock and in fact.
  now += 60_000;
  expect(await new WorkTime(20, () => now).limit(never).catch(messageOf)).toBe('the deadline passed');
  body.resolve('here');
  expect(await work).toBe('here');
});

test('a limit on work goes on counting after what others take', async () => {
  let now = 0;
  const time = new WorkTime(60_000, () => now);
  const work = async () => {
    now += 59_999;
    await time.except(Promise.resolve());
    await never();
  };
  expect(await time.limit(work).catch(messageOf)).toBe('the deadline passed');
});

test('a limit on work ends later once more time was granted', async () => {
  const time = new WorkTime(5, () => 0);
  const work = time.limit(async () => {
    time.extend(60_000);
    return await new WorkTime(20, () => 0).limit(never).catch(messageOf);
  });
  expect(await work).toBe('the deadline passed');
  expect(time.isUsedUp).toBe(false);
});

test('who asks, before or afterwards, learns that the time is used up', async () => {
  const time = new WorkTime(5, () => 0);
  const early = time.usedUp;
  expect(early.aborted).toBe(false);
  await time.limit(never).catch(messageOf);
  expect([early.aborted, time.usedUp.aborted]).toEqual([true, true]);
  const late = new WorkTime(5, () => 0);
  await late.limit(never).catch(messageOf);
  expect(late.usedUp.aborted).toBe(true);
});

test('limited work that fails or ends in time settles as it does', async () => {
  const time = () => new WorkTime(60_000, () => 0);
  expect(await time().limit(() => Promise.resolve(1))).toBe(1);
  const failing = time().limit(() => Promise.reject(new Error('mine')));
  expect(await failing.catch(messageOf)).toBe('mine');
});

test('limited work that throws before it returns a promise fails as it does, and its limit ends', async () => {
  const time = new WorkTime(5, () => 0);
  const failing = time.limit(() => {
    throw new Error('mine');
  });
  expect(await failing.catch(messageOf)).toBe('mine');
  expect(await new WorkTime(20, () => 0).limit(never).catch(messageOf)).toBe('the deadline passed');
  expect(time.isUsedUp).toBe(false);
});
