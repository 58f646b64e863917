import { setTimeout as wait } from 'node:timers/promises';
import { type BudgetLimits, KeyedBudget } from '../../../platform/async/keyed-budget.ts';
import { clientKey } from '../../../platform/config/client-address.ts';
import { LocalCounter } from '../../../platform/time/window-counter.ts';

/** The limits of clients that guess addresses. */
export interface GuessLimits {
  /** Unknown recipients of one client within `windowMs` that are answered at once. */
  readonly free: number;
  /** Those beyond `free` are answered late, up to so many; then every recipient of the client is put off until the time is over. */
  readonly most: number;
  readonly windowMs: number;
  readonly delayMs: number;
  /** Late answers that are under way at once; a connection beyond them ends instead of waiting. */
  readonly held: BudgetLimits;
  /** Clients that are remembered. */
  readonly clients: number;
}

/**
 * 20 is the number of errors after which Postfix ends a session (smtpd_hard_error_limit). A legitimate list with a few dead addresses waits
 * some seconds: RFC 5321 4.5.3.2.3 lets a client wait five minutes for the reply to RCPT. 40 of 200 connections may wait.
 */
const LIMITS: GuessLimits = {
  free: 20,
  most: 100,
  windowMs: 600_000,
  delayMs: 5_000,
  held: { total: 40, each: 5 },
  clients: 10_000,
};

interface GuessClock {
  readonly monotonic: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

const CLOCK: GuessClock = {
  monotonic: () => performance.now(),
  wait: (ms) => wait(ms, null, { ref: false }),
};

/**
 * Slows clients that guess addresses. The unknown recipients of a client, or of its IPv6 network, are counted over all its connections;
 * recipients whose message was taken are taken off, so that a server that brings much mail may have many dead addresses. Naming one that is
 * known costs a guesser a message each time.
 */
export class GuessLimit {
  readonly #limits: GuessLimits;
  readonly #clock: GuessClock;
  readonly #counter: LocalCounter;
  readonly #held: KeyedBudget;

  constructor(limits: Partial<GuessLimits> = {}, clock: Partial<GuessClock> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#clock = { ...CLOCK, ...clock };
    this.#counter = new LocalCounter(this.#limits.windowMs, this.#clock.monotonic, this.#limits.clients);
    this.#held = new KeyedBudget(this.#limits.held);
  }

  /** True of a client whose recipients are not looked up now, known or not. */
  isOver(address: string): boolean {
    return this.#counter.hit(clientKey(address), 0).used > this.#limits.most;
  }

  /** Counts an unknown recipient, and settles when it is to be answered: true as unknown, false by ending the connection. */
  async unknown(address: string): Promise<boolean> {
    const client = clientKey(address);
    const { free, most, delayMs } = this.#limits;
    const { used } = this.#counter.hit(client);
    if (used <= free) return true;
    if (used > most || !this.#held.take(client)) return false;
    try {
      await this.#clock.wait(delayMs);
    } finally {
      this.#held.give(client);
    }
    return true;
  }

  /** Takes the recipients of a message off that was taken. */
  taken(address: string, recipients: readonly string[]): void {
    this.#counter.hit(clientKey(address), -new Set(recipients.map((one) => one.toLowerCase())).size);
  }
}
