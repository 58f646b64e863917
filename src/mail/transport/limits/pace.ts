import type { Monotonic } from '../../../platform/time/monotonic.ts';
import { SendRate } from '../direct/send-rate.ts';

/** The first rest after a refusal, and the longest: together they outlast a window of a minute. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;
/** What was taken longer ago says nothing about the limit. */
const WINDOW_MS = 60_000;

/** The mails of one second that a server has taken. */
interface Taken {
  readonly at: number;
  mails: number;
}

/** A refusal, with what the server had taken before it. */
interface Burst {
  readonly since: number;
  mails: number;
}

/**
 * Keeps to a rate that a server has. Nothing is held back until the server refuses for its rate. It then rests, one mail tries it from time to time,
 * and the rate that follows is what the server took from the beginning of the burst until it took the next.
 */
export class Pace {
  readonly #taken: Taken[] = [];
  readonly #waiting = new Set<() => void>();
  #rate: SendRate | null = null;
  #restsUntil: number | null = null;
  #restMs = FIRST_REST_MS;
  #burst: Burst | null = null;
  /** True while a mail tries whether the server takes the next. */
  #isTried = false;
  #timer: Timer | undefined;

  constructor(
    private readonly monotonic: Monotonic,
    /** Called with the mails a minute that the server was found to take. */
    private readonly onRate: (perMinute: number) => void,
  ) {}

  /** True while the server rests after a refusal. */
  get isResting(): boolean {
    return this.#restsUntil !== null;
  }

  /** True when the server has taken mail within a minute, or before it began to refuse. */
  get hasTaken(): boolean {
    this.#forget(this.monotonic());
    return (this.#burst?.mails ?? this.#taken.length) > 0;
  }

  /** Keeps to so many mails a minute from now on; null: to no rate. */
  keepTo(perMinute: number | null): void {
    if (perMinute === null) this.#rate = null;
    else if (this.#rate === null) this.#rate = new SendRate(perMinute, this.monotonic);
    else this.#rate.resize(perMinute);
  }

  /** Settles with true when a mail may go, and with false when the signal fires first. */
  async turn(signal: AbortSignal): Promise<boolean> {
    while (this.#restsUntil !== null && !this.#isTrial()) if (!(await this.#rested(signal))) return false;
    return this.#rate === null ? !signal.aborted : this.#rate.next(signal);
  }

  /** The server took a mail. */
  accepted(): void {
    const now = this.monotonic();
    if (this.#burst !== null && this.#isTried) this.#resume(now, this.#burst);
    // It was on its way when the server began to refuse.
    else if (this.#burst !== null) this.#burst.mails += 1;
    const last = this.#taken.at(-1);
    if (last !== undefined && now - last.at < 1_000) last.mails += 1;
    else this.#taken.push({ at: now, mails: 1 });
    this.#forget(now);
  }

  /** The server refused a mail for its rate. */
  refused(): void {
    const now = this.monotonic();
    this.#forget(now);
    this.#burst ??= {
      since: this.#taken[0]?.at ?? now,
      mails: this.#taken.reduce((sum, { mails }) => sum + mails, 0),
    };
    // What was on its way when the server began to refuse says nothing new.
    if (this.#restsUntil !== null && !this.#isTried) return;
    this.#isTried = false;
    this.#restsUntil = now + this.#restMs;
    this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS);
    this.#wakeAt(this.#restsUntil);
  }

  /** Lets one mail go when the rest is over; the rest goes on for the others until the server has taken it. */
  #isTrial(): boolean {
    const now = this.monotonic();
    if (this.#restsUntil === null || now < this.#restsUntil) return false;
    this.#isTried = true;
    this.#restsUntil = now + this.#restMs;
    this.#wakeAt(this.#restsUntil);
    return true;
  }

  #resume(now: number, { since, mails }: Burst): void {
    this.#burst = null;
    this.#isTried = false;
    this.#restsUntil = null;
    this.#restMs = FIRST_REST_MS;
    this.#taken.length = 0;
    clearTimeout(this.#timer);
    if (mails > 0) this.onRate(Math.max(1, Math.floor((mails * 60_000) / Math.max(1_000, now - since))));
    this.#wakeAll();
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

  #forget(now: number): void {
    while (this.#taken[0] !== undefined && now - this.#taken[0].at > WINDOW_MS) this.#taken.shift();
  }
}
