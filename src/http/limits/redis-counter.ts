import type { RedisClient } from 'bun';
import { within } from '../../platform/async/deadline.ts';
import type { Counter, Hit } from '../../platform/time/window-counter.ts';
import type { Log } from '../log.ts';

/** Pause after a failure of the store, during which it is not asked. */
const REST_MS = 1_000;

export interface RedisCounterOptions {
  readonly redis: Pick<RedisClient, 'incr' | 'pttl' | 'send'>;
  /** The part of the key that tells this counter from others in the same store. */
  readonly name: string;
  readonly windowMs: number;
  readonly monotonic: () => number;
  /**
   * After this time the local count decides, so that the limiter never becomes the slowest part of a request.
   */
  readonly answerMs: number;
  /** Counts while the store is unreachable. */
  readonly local: Counter;
  readonly log: Log;
}

/**
 * A counter that instances share through Redis 7 or Valkey. While the store is unreachable each instance
 * counts for itself: limits protect the service, and refusing everybody would do an attacker's work.
 */
export class RedisCounter implements Counter {
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isAway = false;

  constructor(private readonly options: RedisCounterOptions) {}

  async hit(name: string): Promise<Hit> {
    const { monotonic, local, answerMs } = this.options;
    if (monotonic() < this.restsUntil) return local.hit(name);
    try {
      const hit = await within(answerMs, this.count(name));
      this.note(false, 'rate limits are shared again');
      return hit;
    } catch {
      this.restsUntil = monotonic() + REST_MS;
      this.note(true, 'the rate limit store is unavailable: each instance counts for itself');
      return local.hit(name);
    }
  }

  /**
   * Counts in one round trip. `NX` sets an expiry only where there is none: no window is extended, and none
   * outlives a crash between the commands.
   */
  private async count(name: string): Promise<Hit> {
    const { redis, windowMs } = this.options;
    const key = `posthorn:${this.options.name}:${name}`;
    const [used, , msLeft] = await Promise.all([
      redis.incr(key),
      redis.send('PEXPIRE', [key, String(windowMs), 'NX']),
      redis.pttl(key),
    ]);
    return { used, msLeft: msLeft < 0 ? windowMs : msLeft };
  }

  private note(isAway: boolean, message: string): void {
    if (isAway !== this.isAway) this.options.log.warn({ counter: this.options.name }, message);
    this.isAway = isAway;
  }
}
