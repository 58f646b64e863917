import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { SendRate } from '../direct/send-rate.ts';

/** The first rest after a refusal, and the longest: together they outlast a window of a minute. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;
/** Mail that was taken longer ago says nothing about the limit. */
const WINDOW_MS = 60_000;
/**
 * A server that has refused for so long is not waited for: two windows of a minute, and what is left of a
 * third.
 */
const PATIENCE_MS = 150_000;
/**
 * After so long without mail to send, another burst begins: what went before says nothing of the rate that
 * the server takes.
 */
const GAP_MS = 2_000;
/**
 * Fewer mails are no measurement: one that left a while ago and one that is refused look like a rate of one a
 * minute.
 */
const ENOUGH_MAILS = 10;

/** No rate below this one is ever kept to, over all processes: what a server takes less of, rests see to. */
export const LEAST_PER_MINUTE = 30;

/** The mails of one second that a server has taken. */
interface SecondCount {
  readonly at: number;
  mails: number;
}

/**
 * Keeps to a rate that a server has. Nothing is held back until the server refuses for its rate. It then
 * rests, and one mail tries it from time to time. The rate that follows is the highest that it kept up over
 * enough mails of the burst, until it took the next.
 */
export class Pace {
  /** Of this burst. */
  #taken: SecondCount[] = [];
  readonly #waiting = new Set<() => void>();
  /** The rate that was learned. */
  #rate: SendRate | null = null;
  /** One that is kept to for a few mails, because too few were taken to learn from. */
  #careful: { readonly rate: SendRate; left: number } | null = null;
  /** Since when, and until when, the server rests after refusals. */
  #rest: { readonly since: number; until: number } | null = null;
  #restMs = FIRST_REST_MS;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** When a mail last came, went, or was answered. */
  #usedAt = Number.NEGATIVE_INFINITY;
  /** Mails that wait for their turn. */
  #comers = 0;
  /** True while a mail tries whether the server takes the next. */
  #isTried = false;
  #timer: Timer | undefined;

  constructor(
    private readonly monotonic: MonotonicClock,
    /**
     * Called when the server takes mail again, with the mails a minute that it was found to take; null where
     * too few went to know.
     */
    private readonly onRate: (perMinute: number | null) => void,
  ) {}

  /** True while the server rests after a refusal. */
  get isResting(): boolean {
    return this.#rest !== null;
  }

  /** True when the server has taken mail within a minute, or within the minute before it began to refuse. */
  get hasTaken(): boolean {
    return (this.#rest?.since ?? this.monotonic()) - this.#takenAt <= WINDOW_MS;
  }

  /** False once the server has refused for longer than it makes sense to wait. */
  get isHopeful(): boolean {
    return this.#rest === null || this.monotonic() - this.#rest.since < PATIENCE_MS;
  }

  /** Keeps to so many mails a minute from now on; null: to no rate. */
  keepTo(perMinute: number | null): void {
    if (perMinute === null) this.#rate = null;
    else if (this.#rate === null) this.#rate = new SendRate(perMinute, this.monotonic);
    else this.#rate.resize(perMinute);
    if (perMinute !== null) this.#careful = null;
  }

  /**
   * Settles with true when a mail may go; with false when the signal fires first, or when the server has
   * refused for too long.
   */
  async turn(signal: AbortSignal): Promise<boolean> {
    this.#come();
    this.#comers += 1;
    try {
      while (this.#rest !== null && !this.#isTrial())
        if (!this.isHopeful || !(await this.#rested(signal))) return false;
      const rate = this.#rate ?? this.#careful?.rate;
      return rate === undefined ? !signal.aborted : await rate.next(signal);
    } finally {
      this.#comers -= 1;
      this.#usedAt = this.monotonic();
    }
  }

  /** The server took a mail. */
  accepted(): void {
    const now = this.monotonic();
    if (this.#rest !== null && this.#isTried) this.#resume(now);
    const last = this.#taken.at(-1);
    if (last !== undefined && now - last.at < 1_000) last.mails += 1;
    else this.#taken.push({ at: now, mails: 1 });
    // A rest is part of the burst, however long it is.
    const isOld = ({ at }: SecondCount) => this.#rest === null && now - at > WINDOW_MS;
    while (this.#taken[0] !== undefined && isOld(this.#taken[0])) this.#taken.shift();
    if (this.#careful !== null && --this.#careful.left === 0) this.#careful = null;
    this.#takenAt = now;
    this.#usedAt = now;
  }

  /** The server refused a mail for its rate. */
  refused(): void {
    const now = this.monotonic();
    this.#usedAt = now;
    // Mail that was on its way when the server began to refuse says nothing new.
    if (this.#rest !== null && !this.#isTried) return;
    this.#isTried = false;
    this.#rest = { since: this.#rest?.since ?? now, until: now + this.#restMs };
    this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS);
    this.#wakeAt(this.#rest.until);
  }

  /** Begins another burst after a pause. A rest that no mail has asked for the end of is over. */
  #come(): void {
    const unusedMs = this.monotonic() - this.#usedAt;
    if (this.#comers > 0) return;
    if (unusedMs > WINDOW_MS) this.#endRest();
    if (unusedMs > GAP_MS && this.#rest === null) this.#taken = [];
  }

  /** Lets one mail go when the pause is over; the others wait until the server has taken it. */
  #isTrial(): boolean {
    const now = this.monotonic();
    if (this.#rest === null || now < this.#rest.until) return false;
    this.#isTried = true;
    this.#rest.until = now + this.#restMs;
    this.#wakeAt(this.#rest.until);
    return true;
  }

  #resume(now: number): void {
    const perMinute = this.#fastest(now);
    this.#endRest();
    if (perMinute !== null) this.#taken = [];
    else if (this.#rate === null) {
      const [first] = this.#taken;
      const mails = this.#taken.reduce((sum, one) => sum + one.mails, 0);
      const so = Math.max(LEAST_PER_MINUTE, first === undefined ? 0 : perMinuteOf(mails, now - first.at));
      this.#careful = { rate: new SendRate(so, this.monotonic), left: ENOUGH_MAILS };
    }
    this.onRate(perMinute);
    this.#wakeAll();
  }

  /** The highest rate that the server kept up over enough mails until now; null where there were too few. */
  #fastest(now: number): number | null {
    let mails = 0;
    let fastest: number | null = null;
    for (const taken of this.#taken.toReversed()) {
      mails += taken.mails;
      if (mails >= ENOUGH_MAILS) fastest = Math.max(fastest ?? 0, perMinuteOf(mails, now - taken.at));
    }
    return fastest;
  }

  #endRest(): void {
    this.#isTried = false;
    this.#rest = null;
    this.#restMs = FIRST_REST_MS;
    clearTimeout(this.#timer);
  }

  #rested(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve(!signal.aborted);
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A timer that fires early by the monotonic clock is set again.
      if (this.monotonic() < at) this.#wakeAt(at);
      else this.#wakeAll();
    }, at - this.monotonic());
    this.#timer.unref();
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/**
 * At most as many in a minute as went in a time, which counts as a second at least: servers count by windows.
 */
const perMinuteOf = (mails: number, ms: number): number =>
  Math.max(1, Math.floor((mails * 60_000) / Math.max(1_000, ms)));
