import { expect, test } from 'bun:test';
import { openLimiter } from '../../src/http/limits/open-limiter.ts';
import { eventually } from '../support/eventually.ts';
import { REDIS_SERVER, startRedis } from '../support/redis.ts';

// The same limits as in tests/unit/http/shared-limits.test.ts, whose store is a stand-in, against the program
// itself.
if (REDIS_SERVER === null)
  console.log('Skipped: no redis-server here (apt-get install redis-server, or REDIS_SERVER=<path>).');

const PATIENT = { connectMs: 60_000, answerMs: 60_000 };

async function instance(store: string) {
  const warnings: string[] = [];
  const clock = { ms: 0 };
  const log = { warn: (_: object, message: string) => void warnings.push(message), error() {} };
  const limits = { perAddress: 5, perKey: 2 };
  const opened = await openLimiter({ ...limits, waits: PATIENT, store, monotonic: () => clock.ms, log });
  return { clock, warnings, limiter: opened.limiter, [Symbol.dispose]: opened.close };
}

test.skipIf(REDIS_SERVER === null)(
  'a real Redis counts for two instances, dies, and counts again',
  async () => {
    const redis = await startRedis();
    using one = await instance(redis.url);
    using other = await instance(redis.url);
    // Asked at the same time, they get five different places of the window, and one is over it.
    const asked = await Promise.all(
      [one, other, one, other, one, other].map(({ limiter }) => limiter.byAddress('a')),
    );
    expect(asked.map((status) => status?.isOver).filter((isOver) => isOver)).toHaveLength(1);
    expect(new Set(asked.map((status) => status?.remaining))).toEqual(new Set([4, 3, 2, 1, 0]));
    for (const status of asked) {
      expect(status?.limit).toBe(5);
      expect(status?.resetSeconds).toBeGreaterThan(0);
      expect(status?.resetSeconds).toBeLessThanOrEqual(60);
    }
    expect((await other.limiter.byAddress('b'))?.remaining).toBe(4);
    const keys = [one, other, one].map(({ limiter }) => limiter.byKey('k', 1_000));
    expect((await Promise.all(keys)).filter((isOver) => isOver)).toHaveLength(1);

    await redis.kill();
    const away = 'the rate limit store is unavailable: each instance counts for itself';
    const alone = await eventually('each counts for itself', async () => {
      const status = await one.limiter.byAddress('c');
      return one.warnings.includes(away) ? status : undefined;
    });
    expect(alone?.isOver).toBe(false);

    await using again = await startRedis(redis.port);
    await eventually('they are counted together again', async () => {
      one.clock.ms += 2_000;
      await one.limiter.byAddress('d');
      return one.warnings.includes('rate limits are shared again') || undefined;
    });
    expect(again.url).toBe(redis.url);
  },
);
