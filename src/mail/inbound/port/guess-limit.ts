import { setTimeout as wait } from 'node:timers/promises';
import { type BudgetLimits, KeyedBudget } from '../../../platform/async/keyed-budget.ts';
import { clientKey } from '../../../platform/config/client-address.ts';
import { LocalCounter } from '../../../platform/time/window-counter.ts';

/** The limits of clients that guess addresses. */
export interface GuessLimits {
  /** Unknown recipients of one client within `windowMs` that are answered at once. */
  readonly free: number;
  /**
   * Those beyond `free` are answered late, up to so many; then recipients of the client are put off until the
   * time is over.
   */
  readonly most: number;
  /**
   * As many from a client that has brought mail put its known recipients off as well: others may send from
   * the same network.
   */
  readonly mostOfSender: number;
  readonly windowMs: number;
  /** The time for which a client that has brought mail is remembered. */
  readonly senderMs: number;
  readonly delayMs: number;
  /** Late answers that are under way at once; a connection beyond them ends instead of waiting. */
  readonly held: BudgetLimits;
  /** Clients that are remembered. */
  readonly clients: number;
}

/**
 * 20 is the number of errors after which Postfix ends a session (smtpd_hard_error_limit). A legitimate list
 * with a few dead addresses waits some seconds: RFC 5321 4.5.3.2.3 lets a client wait five minutes for the
 * reply to RCPT. 40 of 200 connections may wait.
 */
const LIMITS: GuessLimits = {
  free: 20,
  most: 100,
  mostOfSender: 1_000,
  windowMs: 600_000,
  senderMs: 86_400_000,
  delayMs: 5_000,
  held: { total: 40, each: 5 },
  clients: 10_000,
};

interface GuessClock {
  readonly monotonic: () => number;
  /** Settles after the time, or rejects when the signal aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

const CLOCK: GuessClock = {
  monotonic: () => performance.now(),
  wait: (ms, signal) => wait(ms, null, { ref: false, ...(signal && { signal }) }),
};

/** A message takes at most so many unknown recipients off. */
const MOST_PER_MESSAGE = 10;

/**
 * Slows clients that guess addresses. The unknown recipients of a client, or of its IPv6 network, are counted
 * over all its connections; routes that have stored a message of it are taken off, so that a server that
 * brings much mail may have many dead addresses. A guesser who knows an address pays for each guess with a
 * stored message.
 */
export class GuessLimit {
  readonly #limits: GuessLimits;
  readonly #clock: GuessClock;
  readonly #counter: LocalCounter;
  /** The clients that have brought mail. */
  readonly #senders: LocalCounter;
  readonly #held: KeyedBudget;

  constructor(limits: Partial<GuessLimits> = {}, clock: Partial<GuessClock> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#clock = { ...CLOCK, ...clock };
    const { windowMs, senderMs, clients } = this.#limits;
    this.#counter = new LocalCounter(windowMs, this.#clock.monotonic, clients);
    this.#senders = new LocalCounter(senderMs, this.#clock.monotonic, clients);
    this.#held = new KeyedBudget(this.#limits.held);
  }

  /** True of a client whose recipients are not looked up now, known or not. */
  isOver(address: string): boolean {
    const client = clientKey(address);
    const { most, mostOfSender } = this.#limits;
    const isSender = this.#senders.hit(client, 0).used > 0;
    return this.#counter.hit(client, 0).used > (isSender ? mostOfSender : most);
  }

  /**
   * Counts an unknown recipient, and settles when it is to be answered: true as unknown, false by ending the
   * connection. A client whose `end` aborts waits no longer.
   */
  async unknown(address: string, end?: AbortSignal): Promise<boolean> {
    const client = clientKey(address);
    const { free, most, delayMs } = this.#limits;
    const { used } = this.#counter.hit(client);
    if (used <= free) return true;
    if (used > most || !this.#held.take(client)) return false;
    try {
      await this.#clock.wait(delayMs, end);
    } catch {
      return false;
    } finally {
      this.#held.give(client);
    }
    return true;
  }

  /** Takes the routes off that have stored a message. */
  stored(address: string, routes: number): void {
    const client = clientKey(address);
    this.#senders.hit(client);
    const { used } = this.#counter.hit(client, 0);
    this.#counter.hit(client, -Math.min(used, routes, MOST_PER_MESSAGE));
  }
}
