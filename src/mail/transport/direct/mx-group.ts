import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import type { LimitBook } from '../limits/limit-book.ts';
import type { SiteLimits } from '../limits/site-limits.ts';
import { connectionsOf, messagesOf, type Part } from '../part.ts';
import { SharedSessions } from '../shared-sessions.ts';
import type { Endpoint } from '../smtp/endpoint.ts';
import { openSession } from '../smtp/session.ts';
import { SessionPool } from '../smtp/session-pool.ts';
import { SendRate } from './send-rate.ts';

/** The limits for one MX group, over all processes. */
export interface MxGroupLimits {
  readonly sessions: number;
  readonly messagesPerSession: number;
  readonly messagesPerMinute: number;
  readonly idleMs: number;
}

/** The limits for one MX group where only these two are chosen. */
export const mxGroupLimits = (sessions: number, messagesPerMinute: number): MxGroupLimits => ({
  sessions,
  messagesPerSession: 100,
  messagesPerMinute,
  idleMs: 5_000,
});

/**
 * All domains whose mail goes to the same hosts, by which receivers count connections and messages. Thousands
 * of domains of one provider are one group.
 */
export class MxGroup {
  readonly sessions: SharedSessions;
  readonly rate: SendRate;
  readonly #pools = new Map<string, SessionPool>();

  constructor(
    private readonly limits: MxGroupLimits,
    private readonly monotonic: MonotonicClock,
    private part: Part,
    /** The limits that each of the servers has shown. */
    private readonly book: LimitBook,
  ) {
    this.sessions = new SharedSessions(connectionsOf(limits.sessions, part));
    this.rate = new SendRate(messagesOf(limits.messagesPerMinute, part), monotonic);
  }

  /**
   * Keeps to this part of the limits from now on. What is being sent ends first; unused connections end at
   * once.
   */
  keepTo(part: Part): void {
    this.part = part;
    for (const pool of this.#pools.values()) pool.keepTo(part);
    const sessions = connectionsOf(this.limits.sessions, part);
    const isLess = sessions < this.sessions.units;
    this.sessions.resize(sessions);
    this.rate.resize(messagesOf(this.limits.messagesPerMinute, part));
    if (isLess) for (const pool of this.#pools.values()) pool.endIdle();
  }

  /** True when no message is in progress and no session is open. */
  get idle(): boolean {
    return this.sessions.idle && [...this.#pools.values()].every((pool) => pool.empty);
  }

  /** The sessions to one endpoint, which includes its TLS options. */
  pool(endpoint: Endpoint): SessionPool {
    const key = [endpoint.host, endpoint.name, endpoint.tls, endpoint.verifyCertificate].join(' ');
    const known = this.#pools.get(key);
    if (known) return known;
    const parts = { site: this.site(endpoint.name), monotonic: this.monotonic };
    const pool = new SessionPool((signal) => openSession(endpoint, signal), this.limits, parts);
    pool.keepTo(this.part);
    this.#pools.set(key, pool);
    return pool;
  }

  site(server: string): SiteLimits {
    return this.book.of({ transport: 'direct', server });
  }

  async close(): Promise<void> {
    await this.sessions.drained();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}
