import type { Counter, Hit } from '../../platform/time/window-counter.ts';

/** The configured limits; 0 turns one off. */
export interface RateLimits {
  /** Requests a minute for each client address, over all endpoints without another limit. */
  readonly perAddress: number;
  /** Requests in each second of the clock for each API key. */
  readonly perKey: number;
}

/** The state of one client's window, which the three `x-ratelimit-*` headers report. */
export interface RateLimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least one. */
  readonly resetSeconds: number;
  readonly isOver: boolean;
}

/** The limit of an endpoint that is counted apart from all others. */
export interface OwnLimit {
  readonly name: string;
  readonly perMinute: number;
  /** True where 0 a minute turns it off, and it holds even where addresses are not limited otherwise. */
  readonly hasOwnSwitch?: boolean;
}

/** Counts requests by client address and by API key, including refused ones. */
export class RateLimiter {
  /** @param minutes counts in windows of 60 s, @param seconds in windows of one */
  constructor(
    private readonly limits: RateLimits,
    private readonly minutes: Counter,
    private readonly seconds: Counter,
  ) {}

  /** Counts a request of a client; null when addresses are not limited. */
  byAddress(client: string, own?: OwnLimit): RateLimitStatus | null | Promise<RateLimitStatus> {
    if ((own?.hasOwnSwitch ? own.perMinute : this.limits.perAddress) === 0) return null;
    const limit = own?.perMinute ?? this.limits.perAddress;
    const hit = this.minutes.hit(own ? `${own.name} ${client}` : client);
    return hit instanceof Promise ? hit.then((counted) => rateLimit(counted, limit)) : rateLimit(hit, limit);
  }

  /** Counts a request with a key in the second of `nowMs`. True when the key is over its limit. */
  byKey(keyId: string, nowMs: number): boolean | Promise<boolean> {
    const { perKey } = this.limits;
    if (perKey === 0) return false;
    const hit = this.seconds.hit(`${keyId} ${Math.floor(nowMs / 1_000)}`);
    return hit instanceof Promise ? hit.then(({ used }) => used > perKey) : hit.used > perKey;
  }

  /** The limit per key, for the message that states it. */
  get perKey(): number {
    return this.limits.perKey;
  }
}

function rateLimit({ used, msLeft }: Hit, limit: number): RateLimitStatus {
  return {
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(msLeft / 1_000)),
    isOver: used > limit,
  };
}
