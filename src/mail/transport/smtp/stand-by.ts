import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import type { SessionFailure } from './session.ts';
import type { Waits } from './waits.ts';

/** One is let through to try a connection after the first time, and then ever more rarely. */
const FIRST_TRY_MS = 100;
const LONGEST_TRY_MS = 8_000;
/** A mail gives up when no session has worked for so long. */
const PATIENCE_MS = 30_000;

/**
 * A server whose sessions have worked until now is not down because it refuses a connection while the last of
 * them ends.
 */
const GRACE_MS = 2_000;

/** A mail that found the server full. */
interface WaitingMail<Held> {
  readonly since: number;
  readonly isBulk: boolean;
  readonly failure: SessionFailure;
  /** The failure counts when no other session is left, since it speaks of no limit. */
  readonly needsOthers: boolean;
  /** Null: try to open a session. */
  readonly resolve: (given: Held | null) => void;
  readonly reject: (failure: SessionFailure) => void;
}

/**
 * The mails that a server gave no connection to while it takes mail over others. They get the next session
 * that is free, before any mail that has not begun.
 */
export class StandBy<Held> {
  readonly #line: WaitingMail<Held>[] = [];
  #timer: Timer | undefined;
  #tryMs = FIRST_TRY_MS;
  #workedAt = Number.NEGATIVE_INFINITY;
  /** Since when mails have found the server full without a pause, and when the last one did. */
  #fullSince = Number.NEGATIVE_INFINITY;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly monotonic: MonotonicClock,
    /** True while there is a session, or one is coming. */
    private readonly hasSessions: () => boolean,
  ) {}

  /** A session of the pool has worked. */
  worked(): void {
    this.#workedAt = this.monotonic();
  }

  /**
   * Waits for a session, or for the time to try a connection (null). Rejects with the failure when it makes
   * no sense to wait any more.
   */
  wait(failure: SessionFailure, waits: Waits, isBulk: boolean, needsOthers: boolean): Promise<Held | null> {
    const now = this.monotonic();
    if (now - this.#fullAt >= PATIENCE_MS) this.#fullSince = now;
    this.#fullAt = now;
    // A mail that was taken back comes again: what it has waited for before counts.
    const since = Math.min(waits.since, this.#fullSince);
    const { signal } = waits;
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', giveUp);
        const at = this.#line.indexOf(waiting);
        if (at >= 0) this.#line.splice(at, 1);
        if (this.#line.length === 0) this.#rest();
      };
      const waiting: WaitingMail<Held> = {
        since,
        isBulk,
        failure,
        needsOthers,
        resolve: (given) => {
          leave();
          resolve(given);
        },
        reject: () => {
          leave();
          reject(failure);
        },
      };
      const giveUp = () => waiting.reject(failure);
      if (signal.aborted) return reject(failure);
      signal.addEventListener('abort', giveUp, { once: true });
      const before = this.#line.findIndex((one) => one.isBulk === isBulk && one.since > since);
      if (before < 0) this.#line.push(waiting);
      else this.#line.splice(before, 0, waiting);
      this.#timer ??= this.#later();
      this.look();
    });
  }

  /** Gives a free session to the next one; false when none waits. */
  give(held: Held): boolean {
    const next = this.#next();
    next?.resolve(held);
    return next !== undefined;
  }

  /**
   * Lets the next one try a connection, since one has ended or another was had. A server that is full may
   * count the ended one for a moment longer, so that the next trial comes soon.
   */
  place(): void {
    if (this.#line.length === 0) return;
    this.#rest();
    this.#timer = this.#later();
    this.#next()?.resolve(null);
  }

  /** True when a session may still come for a failure that speaks of no limit. */
  get isHopeful(): boolean {
    return this.hasSessions() || this.monotonic() - this.#workedAt < GRACE_MS;
  }

  /** Sends away those that wait in vain: the server is down, or has not worked for too long. */
  look(): void {
    const now = this.monotonic();
    const { isHopeful } = this;
    for (const { needsOthers, since, failure, reject } of [...this.#line])
      if ((needsOthers && !isHopeful) || now - Math.max(since, this.#workedAt) >= PATIENCE_MS)
        reject(failure);
  }

  /** Mail that is not of a campaign goes first. */
  #next(): WaitingMail<Held> | undefined {
    return this.#line.find(({ isBulk }) => !isBulk) ?? this.#line[0];
  }

  #later(): Timer {
    const timer = setTimeout(() => {
      this.#tryMs = Math.min(2 * this.#tryMs, LONGEST_TRY_MS);
      this.#timer = this.#later();
      this.look();
      this.#next()?.resolve(null);
    }, this.#tryMs);
    timer.unref();
    return timer;
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tryMs = FIRST_TRY_MS;
  }
}
