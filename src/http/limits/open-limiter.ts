import { RedisClient } from 'bun';
import { within } from '../../platform/async/deadline.ts';
import { type Counter, LocalCounter } from '../../platform/time/window-counter.ts';
import type { Log } from '../log.ts';
import { RateLimiter, type RateLimits } from './rate-limit.ts';
import { RedisCounter } from './redis-counter.ts';

/** The limits and the place where they are counted. */
export interface LimiterOptions extends RateLimits {
  /** `redis://…` shares the counts between instances; without it each process counts for itself. */
  readonly store?: string | undefined;
  readonly monotonic: () => number;
  readonly waits?: typeof WAITS;
  readonly log: Log;
}

/** A limiter whose connection is closed when the service stops. */
export interface OpenLimiter {
  readonly limiter: RateLimiter;
  close(): void;
}

/** Longest waits of the start and of a request for the store. */
const WAITS = { connectMs: 500, answerMs: 100 };

/** Opens the rate limiter of the settings. The service also starts while the store is unreachable. */
export async function openLimiter({
  store,
  monotonic,
  log,
  waits = WAITS,
  ...limits
}: LimiterOptions): Promise<OpenLimiter> {
  const minutes = new LocalCounter(60_000, monotonic);
  const seconds = new LocalCounter(1_000, monotonic);
  if (!store) return { limiter: new RateLimiter(limits, minutes, seconds), close() {} };
  // Without the offline queue a command fails at once while the store is unreachable, and the local count
  // decides.
  const redis = new RedisClient(store, {
    enableOfflineQueue: false,
    connectionTimeout: waits.connectMs,
    maxRetries: 1_000_000,
  });
  await within(waits.connectMs, redis.connect()).catch(() =>
    log.warn({}, 'the rate limit store does not answer yet'),
  );
  const shared = (name: string, windowMs: number, local: Counter) =>
    new RedisCounter({ redis, name, windowMs, monotonic, local, log, answerMs: waits.answerMs });
  return {
    limiter: new RateLimiter(limits, shared('address', 60_000, minutes), shared('key', 1_000, seconds)),
    close: () => redis.close(),
  };
}
