import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import { type Agreement, type Clock, systemClock } from './clock.ts';

/**
 * One reading of the database's clock (`at`, epoch ms), with our monotonic clock and the machine's at that
 * moment.
 */
export interface ClockReading {
  readonly at: number;
  readonly monotonic: number;
  readonly machine: number;
  /** The largest error of `at`: half of the round trip. */
  readonly within: number;
  /** The time that the machine had been suspended; null where that is not known. */
  readonly suspended: number | null;
}

/** The largest difference that two NTP clients, a failover between them and a slow network explain. */
export const EXPLAINED_MS = 2_500;
/** A reading with a larger error is ignored. */
const TOO_VAGUE_MS = 1_000;
const SAMPLES = 5;
/** The number of tries at the start, of `SAMPLES` readings each. */
const FIRST_READINGS = 3;
/** A reading with a smaller error is good enough. */
const SHARP_MS = 2;
/** The part of the passing time by which an explained difference is corrected. */
const SLEW = 0.1;
/** The time between two readings; quartz drifts by a millisecond in it. */
export const LOOK_EVERY_MS = 10_000;
/**
 * The time after which a clock that has jumped ahead counts as right. No attempt has a longer lease, so none
 * that was under way at the jump counts as lost.
 */
export const ADOPTED_AFTER_MS = 15 * 60_000;

const ASK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at';

/** Reads the database's clock several times, and returns the reading with the shortest round trip. */
export async function readClock(
  database: Pick<Database, 'query'>,
  machine: Clock = systemClock,
): Promise<ClockReading> {
  let best: ClockReading | null = null;
  for (let sample = 0; sample < SAMPLES && (best === null || best.within > SHARP_MS); sample++) {
    const before = machine.monotonic();
    const [row] = await database.query<{ at: number }>(ASK, [], { isRoutine: true });
    const monotonic = machine.monotonic();
    const within = (monotonic - before) / 2;
    if (best === null || within < best.within)
      best = {
        at: (row?.at ?? Number.NaN) + within,
        monotonic,
        machine: machine.now(),
        within,
        suspended: machine.suspended?.() ?? null,
      };
  }
  return best as ClockReading;
}

/**
 * A clock that follows the database's, independent of the machine's clock: it is measured at the start and
 * every ten seconds, and continued with the monotonic clock in between. It never goes back. Small differences
 * are corrected gradually. A larger one is adopted at once if this machine was suspended for as long, and
 * otherwise not believed: the database's clock was set, perhaps together with the machine's, or another
 * server answers. Nothing is claimed or removed then until both agree again.
 */
export class DatabaseClock implements Clock {
  /** The time from which this clock is carried on, and the monotonic time of it. */
  #from: { readonly at: number; readonly monotonic: number };
  /** The difference that is still to be corrected. */
  #pending = 0;
  /** The last reading that agreed. */
  #agreed: ClockReading;
  /** The time that was returned last. */
  #last = 0;
  #agreement: Agreement;
  /** The monotonic time of the first reading of the present disagreement. */
  #strangeSince: number | null = null;

  constructor(
    first: ClockReading,
    private readonly machine: Clock,
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
  ) {
    this.#from = first;
    this.#agreed = first;
    this.#agreement = { skewMs: 0, machineSkewMs: Math.round(first.at - first.machine), agrees: true };
  }

  now = (): number => {
    this.#last = Math.max(this.#last, Math.floor(this.#tell(this.machine.monotonic())));
    return this.#last;
  };

  monotonic = (): number => this.machine.monotonic();

  get agreement(): Agreement {
    return this.#agreement;
  }

  /** Takes note of a reading. */
  follow(reading: ClockReading): void {
    if (!Number.isFinite(reading.at) || reading.within > TOO_VAGUE_MS) return;
    const expected = this.#tell(reading.monotonic);
    const skewMs = reading.at - expected;
    const isSmall = Math.abs(skewMs) - reading.within <= EXPLAINED_MS;
    this.#from = { at: expected, monotonic: reading.monotonic };
    // A database that is ahead is adopted, at once or after a while; one that is behind is waited for.
    if (
      !isSmall &&
      skewMs > 0 &&
      (this.#wasSuspended(reading, skewMs) || this.#hasStood(reading.monotonic))
    ) {
      this.#from = reading;
      this.#pending = 0;
      this.#settle(reading, 0, true);
    } else {
      this.#pending = isSmall || skewMs < 0 ? skewMs : 0;
      this.#settle(reading, skewMs, isSmall);
    }
  }

  #tell(monotonic: number): number {
    const passed = Math.max(0, monotonic - this.#from.monotonic);
    // A clock that is far ahead of the database pauses.
    const share = this.#pending < -EXPLAINED_MS ? 1 : SLEW;
    const most = passed * share;
    return this.#from.at + passed + Math.max(-most, Math.min(most, this.#pending));
  }

  /**
   * True when the machine was suspended for the difference. If that is unknown, a jump of the machine's clock
   * by as much counts, though both clocks may have been set together.
   */
  #wasSuspended(reading: ClockReading, skewMs: number): boolean {
    const { at, machine, suspended } = this.#agreed;
    if (reading.suspended !== null && suspended !== null)
      return Math.abs(reading.suspended - suspended - skewMs) <= EXPLAINED_MS;
    return Math.abs(reading.machine - machine - (reading.at - at)) <= EXPLAINED_MS;
  }

  #hasStood(monotonic: number): boolean {
    return this.#strangeSince !== null && monotonic - this.#strangeSince >= ADOPTED_AFTER_MS;
  }

  #settle(reading: ClockReading, skewMs: number, agrees: boolean): void {
    const before = this.#agreement.agrees;
    const machineSkewMs = Math.round(reading.at - reading.machine);
    this.#agreement = { skewMs: Math.round(skewMs), machineSkewMs, agrees };
    if (agrees) {
      this.#agreed = reading;
      this.#strangeSince = null;
      if (!before) this.logger.info('The clocks agree again: the service claims due work.');
      return;
    }
    this.#strangeSince ??= reading.monotonic;
    if (before)
      this.logger.warn(
        { clockSkewMs: this.#agreement.skewMs },
        `The clock of the database has jumped by ${(skewMs / 1_000).toFixed(1)} s. Nothing is claimed and nothing is removed until it agrees again. ` +
          'Synchronise its machine with NTP; if its time is right now, restart this instance.',
      );
  }
}

/** A clock that measures itself until it is closed. */
export interface OpenClock extends Clock {
  close(): void;
}

/**
 * Takes the first reading, which everything follows. It is repeated while it is vague: a connection may be
 * slow once.
 */
async function firstReading(database: Pick<Database, 'query'>, machine: Clock): Promise<ClockReading> {
  for (let tries = 1; ; tries++) {
    const reading = await readClock(database, machine);
    if (reading.within <= TOO_VAGUE_MS) return reading;
    if (tries === FIRST_READINGS)
      throw new UnavailableError('The database takes too long to report its time.', 'no');
  }
}

/** Opens the clock of a service on this database. @throws UnavailableError */
export async function openClock(
  database: Database,
  logger: Pick<Logger, 'warn' | 'info'>,
  machine: Clock = systemClock,
): Promise<OpenClock> {
  // The embedded database reads the machine's clock itself.
  if (database.kind === 'embedded')
    return { ...machine, agreement: { skewMs: 0, machineSkewMs: 0, agrees: true }, close: () => {} };
  const clock = new DatabaseClock(await firstReading(database, machine), machine, logger);
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      clock.follow(await readClock(database, machine));
    } catch {
      // While the database is away nothing can be claimed anyway.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  return Object.assign(clock, { close: () => clearInterval(timer) });
}
