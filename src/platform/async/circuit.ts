import type { MonotonicClock } from '../time/monotonic.ts';

/**
 * Failures in a row after which a relay is left alone: one may be chance, and three are known within a second
 * under load.
 */
export const FAILURES_TO_OPEN = 3;
/** The first rest of a relay in ms, and the longest: each trial that fails doubles the rest. */
export const FIRST_REST_MS = 5_000;
export const LONGEST_REST_MS = 60_000;

/** The states of a circuit, in the order of their numbers in `posthorn_relay_state`. */
export const CIRCUIT_STATES = ['closed', 'halfOpen', 'open', 'rested'] as const;

/**
 * `closed`: all mail may go. `open`: none. `rested`: the rest is over, and the next message will try whether
 * the relay is back. `halfOpen`: a message is trying it.
 */
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** The leave to use a relay: one of many, or the only trial after a rest. */
export type Admission = 'ordinary' | 'trial';

/** Remembers whether a relay works, so that mail does not wait for the time limits of one that does not. */
export class Circuit {
  #failures = 0;
  #restMs = FIRST_REST_MS;
  /** The end of the rest, monotonic; null while closed. */
  #restsUntil: number | null = null;
  #isTried = false;

  constructor(
    private readonly monotonic: MonotonicClock,
    private readonly longestRestMs = LONGEST_REST_MS,
  ) {}

  get state(): CircuitState {
    if (this.#restsUntil === null) return 'closed';
    if (this.#isTried) return 'halfOpen';
    return this.restMs > 0 ? 'open' : 'rested';
  }

  /** The milliseconds that are left of the rest; 0 without one. */
  get restMs(): number {
    return Math.max(0, (this.#restsUntil ?? 0) - this.monotonic());
  }

  /** True when `admit` would give leave now. */
  get isPassable(): boolean {
    return this.state === 'closed' || this.state === 'rested';
  }

  /** Gives leave to use the relay, or null. A trial has to be ended by one of the three methods below. */
  admit(): Admission | null {
    if (!this.isPassable) return null;
    if (this.#restsUntil === null) return 'ordinary';
    this.#isTried = true;
    return 'trial';
  }

  /** The relay answered about a message: it works, for every sender. */
  worked(): void {
    this.#failures = 0;
    this.#restMs = FIRST_REST_MS;
    this.#restsUntil = null;
    this.#isTried = false;
  }

  /**
   * The relay failed. An attempt from before the rest says nothing about the time after it, so only the trial
   * prolongs a rest.
   */
  failed(admission: Admission): void {
    if (admission === 'trial' && this.#restsUntil !== null) {
      this.#restMs = Math.min(2 * this.#restMs, this.longestRestMs);
      this.#rest();
    } else if (this.#restsUntil === null && ++this.#failures >= FAILURES_TO_OPEN) this.#rest();
  }

  /** Nothing was learned about the relay, for example because the service stops. */
  abandoned(admission: Admission): void {
    if (admission === 'trial') this.#isTried = false;
  }

  #rest(): void {
    this.#failures = 0;
    this.#isTried = false;
    this.#restsUntil = this.monotonic() + this.#restMs;
  }
}
