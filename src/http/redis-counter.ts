import type { RedisClient } from 'bun';
import type { Log } from './log.ts';
import type { Counter, Hit } from './window-counter.ts';

/** A limiter must not become the slowest part of a request: past this the local count decides. */
const PATIENCE_MS = 100;
/** How long the store is left alone after it failed. */
const REST_MS = 1_000;

/**
 * A counter that instances share through Redis (7 or later) or Valkey. While the store is away each instance counts for itself:
 * limits protect the service, and refusing everybody would do the attacker's work.
 */
export class RedisCounter implements Counter {
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isAway = false;

  constructor(
    private readonly redis: Pick<RedisClient, 'incr' | 'pttl' | 'send'>,
    private readonly prefix: string,
    private readonly windowMs: number,
    private readonly monotonic: () => number,
    private readonly local: Counter,
    private readonly log: Log,
  ) {}

  async hit(name: string): Promise<Hit> {
    if (this.monotonic() < this.restsUntil) return this.local.hit(name);
    try {
      const hit = await impatiently(this.count(`${this.prefix}${name}`));
      if (this.isAway) this.log.warn({}, 'rate limits are shared again');
      this.isAway = false;
      return hit;
    } catch {
      this.restsUntil = this.monotonic() + REST_MS;
      if (!this.isAway) this.log.warn({}, 'the rate limit store is away: each instance counts for itself');
      this.isAway = true;
      return this.local.hit(name);
    }
  }

  /** One round trip. `NX` sets an end only where none is, so a window neither moves nor stays for ever after a crash. */
  private async count(key: string): Promise<Hit> {
    const [used, , msLeft] = await Promise.all([
      this.redis.incr(key),
      this.redis.send('PEXPIRE', [key, String(this.windowMs), 'NX']),
      this.redis.pttl(key),
    ]);
    return { used, msLeft: msLeft < 0 ? this.windowMs : msLeft };
  }
}

function impatiently(hit: Promise<Hit>): Promise<Hit> {
  const { promise, resolve, reject } = Promise.withResolvers<Hit>();
  const timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS);
  hit.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
