import { readFileSync } from 'node:fs';

/** How a clock stands to that of the database. */
export interface Agreement {
  /** How far the database's clock is ahead of this one, in milliseconds, when it was last looked at. */
  readonly skewMs: number;
  /** How far the database's clock is ahead of the machine's own, by which nothing goes but logs and certificates. */
  readonly machineSkewMs: number;
  /** Whether that is explained. While it is not, nothing is claimed and nothing is removed for its age. */
  readonly agrees: boolean;
}

/** Where time comes from; injected everywhere, so that tests own it. */
export interface Clock {
  /** Wall time, epoch milliseconds: what is stored and compared between instances. */
  now(): number;
  /** Milliseconds that never jump: limits, leases of this process, durations. */
  monotonic(): number;
  /** Milliseconds that the machine has been suspended since this process started; absent where that is not known. */
  suspended?(): number;
  /** Of a clock that follows the database's, which SQL reads too; absent where a test has its own. */
  readonly agreement?: Agreement;
}

/** The machine's own clock. Only the embedded database, which has no other, is served by it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  ...suspension(),
};

/**
 * On Linux `/proc/uptime` counts the time of a suspension (CLOCK_BOOTTIME), which the monotonic clock leaves out: what the one has
 * gained on the other. Both begin anew in a container with a time namespace of its own, and the difference stays right.
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

/** A day of 24 hours in milliseconds. */
export const DAY_MS = 86_400_000;

/** Epoch milliseconds as ISO 8601, for SQL and JSON; null stays null. */
export const isoOrNull = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();
