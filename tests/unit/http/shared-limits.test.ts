import { expect, test } from 'bun:test';
import { openLimiter } from '../../../src/http/limits/open-limiter.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { eventually } from '../../support/eventually.ts';
import { livedMs } from '../../support/own-time.ts';
import { startRedisStandIn } from './redis-stand-in.ts';

/** While the store is there, no busy machine skips it. */
const PATIENT = { connectMs: 60_000, answerMs: 60_000 };

/** One instance of the service, as far as its limits go. */
async function instance(store: string, waits?: { connectMs: number; answerMs: number }) {
  const clock = { ms: 0 };
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message), error() {} };
  const limits = { perAddress: 5, perKey: 2 };
  const { limiter, close } = await openLimiter({
    ...limits,
    ...(waits && { waits }),
    store,
    monotonic: () => clock.ms,
    log,
  });
  return { clock, limiter, warnings, [Symbol.dispose]: close };
}

test('shared rate limits hold across two instances', async () => {
  using redis = startRedisStandIn();
  using one = await instance(redis.url, PATIENT);
  using other = await instance(redis.url, PATIENT);
  for (const { limiter } of [one, other, one, other, one]) {
    expect((await limiter.byAddress('a'))?.isOver).toBe(false);
  }
  redis.advance(59_000);
  expect(await other.limiter.byAddress('a')).toEqual({
    limit: 5,
    remaining: 0,
    resetSeconds: 1,
    isOver: true,
  });
  redis.advance(1_000);
  expect(await one.limiter.byAddress('a')).toEqual({
    limit: 5,
    remaining: 4,
    resetSeconds: 60,
    isOver: false,
  });

  expect(await one.limiter.byKey('k', 1_000)).toBe(false);
  expect(await other.limiter.byKey('k', 1_999)).toBe(false);
  expect(await one.limiter.byKey('k', 1_999)).toBe(true);
  expect(await one.limiter.byKey('k', 2_000)).toBe(false);
  expect([...one.warnings, ...other.warnings]).toEqual([]);
});

test('shared rate limits fall back to each instance while the store is away, and are shared again after', async () => {
  const redis = startRedisStandIn(await freePort());
  using one = await instance(redis.url);
  await one.limiter.byAddress('a');
  redis[Symbol.dispose]();
  const away = 'the rate limit store is unavailable: each instance counts for itself';
  await eventually('the loss to be noticed', async () => {
    await one.limiter.byAddress('b');
    return one.warnings.length > 0 || undefined;
  });
  for (let i = 0; i < 4; i++) await one.limiter.byAddress('c');
  expect(await one.limiter.byAddress('c')).toMatchObject({ remaining: 0, isOver: false });
  expect((await one.limiter.byAddress('c'))?.isOver).toBe(true);
  expect(one.warnings).toEqual([away]);

  using back = startRedisStandIn(Number(new URL(redis.url).port));
  expect(back.url).toBe(redis.url);
  await eventually('the store to be used again', async () => {
    one.clock.ms += 1_000;
    await one.limiter.byAddress('d');
    return one.warnings.includes('rate limits are shared again') || undefined;
  });
});

test('shared rate limits wait for a frozen store a tenth of a second, not the deadline', async () => {
  using redis = startRedisStandIn();
  using one = await instance(redis.url);
  redis.freeze(true);
  const waited = await livedMs(async () => expect((await one.limiter.byAddress('a'))?.isOver).toBe(false));
  expect(waited).toBeLessThan(1_000);
  expect(one.warnings).toEqual(['the rate limit store is unavailable: each instance counts for itself']);
});

test('shared rate limits without a store let the service start', async () => {
  using one = await instance('redis://127.0.0.1:1');
  expect((await one.limiter.byAddress('a'))?.isOver).toBe(false);
  expect(one.warnings[0]).toBe('the rate limit store does not answer yet');
});
