import type { RedisClient } from 'bun';
import { within } from '../../async/deadline.ts';
import type { Log } from '../log.ts';
import type { Counter, Hit } from './window-counter.ts';

/** How long the store is left alone after it failed. */
const REST_MS = 1_000;

/** What a shared counter needs. */
export interface RedisCounterOptions {
  readonly redis: Pick<RedisClient, 'incr' | 'pttl' | 'send'>;
  /** Keeps this counter's keys apart from all others in the store. */
  readonly name: string;
  readonly windowMs: number;
  readonly monotonic: () => number;
  /** A limiter must not become the slowest part of a request: past this the local count decides. */
  readonly answerMs: number;
  /** Counts while the store is away. */
  readonly local: Counter;
  readonly log: Log;
}

/**
 * A counter that instances share through Redis 7 or Valkey. While the store is away each instance counts for itself:
 * limits are there to protect the service, and refusing everybody would do an attacker's work.
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
      this.note(true, 'the rate limit store is away: each instance counts for itself');
      return local.hit(name);
    }
  }

  /** One round trip. `NX` sets an end only where none is: no window is extended, and none stays for ever after a crash. */
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
