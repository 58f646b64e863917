import { expect, test } from 'bun:test';
import { RateLimiter } from '../../../src/http/limits/rate-limit.ts';
import { LocalCounter } from '../../../src/platform/time/window-counter.ts';

function limiterAt(limits: { perAddress: number; perKey: number }) {
  const clock = { ms: 0 };
  const counter = (windowMs: number) => new LocalCounter(windowMs, () => clock.ms);
  return { clock, limiter: new RateLimiter(limits, counter(60_000), counter(1_000)) };
}

test('the rate limit per address opens a minute that refused requests do not extend', async () => {
  const { clock, limiter } = limiterAt({ perAddress: 500, perKey: 0 });
  for (let i = 1; i <= 500; i++) {
    expect(await limiter.byAddress('a')).toEqual({
      limit: 500,
      remaining: 500 - i,
      resetSeconds: 60,
      isOver: false,
    });
  }
  clock.ms += 30_001;
  for (let i = 0; i < 10; i++) {
    expect(await limiter.byAddress('a')).toEqual({
      limit: 500,
      remaining: 0,
      resetSeconds: 30,
      isOver: true,
    });
  }
  clock.ms += 29_998;
  expect(await limiter.byAddress('a')).toEqual({ limit: 500, remaining: 0, resetSeconds: 1, isOver: true });
  clock.ms += 1;
  expect((await limiter.byAddress('a'))?.isOver).toBe(false);
});

test('the rate limit of an endpoint counts apart, in both directions', async () => {
  const { limiter } = limiterAt({ perAddress: 2, perKey: 0 });
  const own = { name: 'render-preview', perMinute: 1 };
  expect((await limiter.byAddress('a', own))?.isOver).toBe(false);
  expect((await limiter.byAddress('a', own))?.isOver).toBe(true);
  expect((await limiter.byAddress('a'))?.remaining).toBe(1);
});

test('the rate limit per key counts by clock second', async () => {
  const { limiter } = limiterAt({ perAddress: 0, perKey: 100 });
  for (let i = 0; i < 100; i++) expect(await limiter.byKey('k', 1_999)).toBe(false);
  expect(await limiter.byKey('k', 1_999)).toBe(true);
  expect(await limiter.byKey('k', 2_000)).toBe(false);
  expect(await limiter.byKey('other', 1_999)).toBe(false);
});

test('a rate limit of 0 is off', async () => {
  const { limiter } = limiterAt({ perAddress: 0, perKey: 0 });
  expect(await limiter.byAddress('a')).toBeNull();
  for (let i = 0; i < 1_000; i++) expect(await limiter.byKey('k', 0)).toBe(false);
});
