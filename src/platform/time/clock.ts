import { readFileSync } from 'node:fs';

/**
 * The agreement of a clock with that of the database. Differences are in milliseconds, as of the last look.
 */
export interface Agreement {
  /** The lead of the database's clock over this one. */
  readonly skewMs: number;
  /** The lead of the database's clock over the machine's own, which only logs and certificates follow. */
  readonly machineSkewMs: number;
  /** False while the lead is unexplained: then nothing is claimed, and nothing is removed for its age. */
  readonly agrees: boolean;
}

/** A source of time. It is injected everywhere, so that tests control it. */
export interface Clock {
  /** The wall time in epoch milliseconds, which is stored and compared between instances. */
  now(): number;
  /** Milliseconds that never jump, for limits, durations and leases of this process. */
  monotonic(): number;
  /**
   * Milliseconds that the machine has been suspended since this process started; absent where that is not
   * known.
   */
  suspended?(): number;
  /** The agreement with the database's clock, which SQL reads too; absent where a test has its own. */
  readonly agreement?: Agreement;
}

/** The machine's own clock. Only a service on the embedded database, which has no other, follows it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  ...suspension(),
};

/**
 * On Linux `/proc/uptime` counts the time of a suspension (CLOCK_BOOTTIME), which the monotonic clock leaves
 * out: the difference of the two is the time suspended. Both restart in a container with a time namespace,
 * and the difference stays right.
 */
function suspension(): Pick<Clock, 'suspended'> {
  const read = (): number =>
    Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1_000 - performance.now();
  try {
    const atStart = read();
    return Number.isFinite(atStart) ? { suspended: () => read() - atStart } : {};
  } catch {
    return {};
  }
}

/**
 * Measures how far the clock has leapt beside the monotonic one: it was set, or the machine was suspended.
 */
export class LeapMeter {
  #offset = Number.NaN;

  constructor(private readonly clock: Clock) {
    this.reset();
  }

  get leapMs(): number {
    return this.#now - this.#offset;
  }

  /** Measures from this moment on. Answers the leap up to it, by the same reading of the clocks. */
  reset(): number {
    const before = this.#offset;
    this.#offset = this.#now;
    return this.#offset - before;
  }

  get #now(): number {
    return this.clock.now() - this.clock.monotonic();
  }
}

/** A day of 24 hours in milliseconds. */
export const DAY_MS = 86_400_000;

/**
 * The end of the years that are written with four digits, which is as far as PostgreSQL reads what
 * `toISOString` writes.
 */
const END_OF_TIME = Date.UTC(10_000, 0);

/**
 * A moment as ISO 8601 for JSON that is stored as it is: a wrong one would show only when it is read.
 * @throws RangeError for a moment that PostgreSQL could not read
 */
export function storableMoment(at: number): string {
  if (!(at >= 0 && at < END_OF_TIME)) throw new RangeError(`${at} is no moment that can be stored.`);
  return isoOf(at);
}

/** Moments that are remembered, each in the place that its last bits name. */
const REMEMBERED = 64;
const moments = new Float64Array(REMEMBERED).fill(Number.NaN);
const texts: string[] = Array.from({ length: REMEMBERED }, () => '');

/**
 * Epoch milliseconds as ISO 8601. Requests of the same few milliseconds, and the rows of their commit, have
 * the same moments over and over, taking turns with those of a schedule or a lease: one remembered moment was
 * forgotten at nearly every call.
 */
export function isoOf(at: number): string {
  const place = at & (REMEMBERED - 1);
  if (moments[place] !== at) {
    texts[place] = new Date(at).toISOString();
    moments[place] = at;
  }
  return texts[place] as string;
}

/** The same for SQL and JSON; null stays null. */
export const isoOrNull = (at: number | null): string | null => (at === null ? null : isoOf(at));

/**
 * The time of a signature of AWS (version 4), as its header has it: `20261122T042700Z`. Epoch milliseconds.
 */
export const amzDate = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');

/**
 * The UTC month (live, `2026-11`) or UTC day (test, `2026-11-20`) that a send at that moment counts against.
 */
export const periodOf = (livemode: boolean, at: number): string => isoOf(at).slice(0, livemode ? 7 : 10);
