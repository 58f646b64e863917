import type { Counter, Hit } from './window-counter.ts';

/** The limits in force, as configured; 0 turns one off. */
export interface RateLimits {
  /** Requests a minute and client address, over all endpoints that have no such limit of their own. */
  readonly perAddress: number;
  /** Requests a clock second and API key. */
  readonly perKey: number;
}

/** Where one client stands: the three `x-ratelimit-*` headers say exactly this. */
export interface RateLimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least one. */
  readonly resetSeconds: number;
  readonly isOver: boolean;
}

/** An endpoint that counts client addresses apart from all others. */
export interface OwnLimit {
  readonly name: string;
  readonly perMinute: number;
}

/** Counts requests per client address and per API key, refused ones too. */
export class RateLimiter {
  /** @param minutes counts in windows of 60 s, @param seconds in windows of one */
  constructor(
    private readonly limits: RateLimits,
    private readonly minutes: Counter,
    private readonly seconds: Counter,
  ) {}

  /** Counts a request of that client; null where addresses are not limited. */
  byAddress(client: string, own?: OwnLimit): RateLimitStatus | null | Promise<RateLimitStatus> {
    if (this.limits.perAddress === 0) return null;
    const limit = own?.perMinute ?? this.limits.perAddress;
    const hit = this.minutes.hit(own ? `${own.name} ${client}` : client);
    return hit instanceof Promise ? hit.then((counted) => rateLimit(counted, limit)) : rateLimit(hit, limit);
  }

  /** Counts a request with that key in the clock second of `nowMs`; whether the key is over its limit. */
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
