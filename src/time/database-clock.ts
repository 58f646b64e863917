import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { Unavailable } from '../errors/unavailable.ts';
import { type Agreement, type Clock, systemClock } from './clock.ts';

/** The database's clock, read once: what it said (epoch ms) when our monotonic one and the machine's said that. */
export interface Reading {
  readonly at: number;
  readonly monotonic: number;
  readonly machine: number;
  /** Half of the round trip: by so much `at` may be wrong. */
  readonly within: number;
  /** How long the machine had been suspended; null where that is not known. */
  readonly suspended: number | null;
}

/** Two NTP clients, a failover between two of them and a slow network explain so much, and no more. */
export const EXPLAINED_MS = 2_500;
/** A reading that may be further off than this says nothing. */
const TOO_VAGUE_MS = 1_000;
const SAMPLES = 5;
/** Tries at the start, of so many samples each. */
const FIRST_READINGS = 3;
/** No better one is needed. */
const SHARP_MS = 2;
/** What is corrected of an explained difference, as a share of the time that passes. */
const SLEW = 0.1;
/** Time between two looks; quartz drifts by a millisecond in it. */
export const LOOK_EVERY_MS = 10_000;
/**
 * A clock that has been ahead for so long is taken to be right. No attempt has a longer lease: none that was under way at the
 * jump is taken for lost.
 */
export const ADOPTED_AFTER_MS = 15 * 60_000;

const ASK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at';

/** Reads the database's clock several times, and answers the reading whose round trip was the shortest. */
export async function readClock(
  database: Pick<Database, 'query'>,
  machine: Clock = systemClock,
): Promise<Reading> {
  let best: Reading | null = null;
  for (let sample = 0; sample < SAMPLES && (best === null || best.within > SHARP_MS); sample++) {
    const before = machine.monotonic();
    const [row] = await database.query<{ at: number }>(ASK);
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
  return best as Reading;
}

/**
 * Tells the time of the database, whatever the machine's own clock says: measured at the start and again and again, carried
 * on by the monotonic clock in between. It never goes back. Small differences are made up for little by little; a larger one
 * is taken over at once where this machine had been suspended for as long, and else not believed: the database's clock was set,
 * perhaps together with the machine's, or another server answers. Then nothing is claimed or removed until both agree again.
 */
export class DatabaseClock implements Clock {
  /** What was told, and when; from there on the time is carried on. */
  #from: { readonly at: number; readonly monotonic: number };
  /** What is still to be made up for. */
  #pending = 0;
  /** The last one that agreed. */
  #agreed: Reading;
  /** What was told last. */
  #last = 0;
  #agreement: Agreement;
  /** Monotonic moment of the first look at the present disagreement. */
  #strangeSince: number | null = null;

  constructor(
    first: Reading,
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
  follow(reading: Reading): void {
    if (!Number.isFinite(reading.at) || reading.within > TOO_VAGUE_MS) return;
    const told = this.#tell(reading.monotonic);
    const skewMs = reading.at - told;
    const isSmall = Math.abs(skewMs) - reading.within <= EXPLAINED_MS;
    this.#from = { at: told, monotonic: reading.monotonic };
    // Ahead it is adopted at once, or after a while; behind it is waited for.
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
    // Far ahead of the database this clock stands still.
    const share = this.#pending < -EXPLAINED_MS ? 1 : SLEW;
    const most = passed * share;
    return this.#from.at + passed + Math.max(-most, Math.min(most, this.#pending));
  }

  /**
   * Whether the machine has slept through the difference. Where it does not say how long it slept, a clock of its own that has
   * leapt as far has to do; both clocks may have been set together then.
   */
  #wasSuspended(reading: Reading, skewMs: number): boolean {
    const { at, machine, suspended } = this.#agreed;
    if (reading.suspended !== null && suspended !== null)
      return Math.abs(reading.suspended - suspended - skewMs) <= EXPLAINED_MS;
    return Math.abs(reading.machine - machine - (reading.at - at)) <= EXPLAINED_MS;
  }

  #hasStood(monotonic: number): boolean {
    return this.#strangeSince !== null && monotonic - this.#strangeSince >= ADOPTED_AFTER_MS;
  }

  #settle(reading: Reading, skewMs: number, agrees: boolean): void {
    const before = this.#agreement.agrees;
    const machineSkewMs = Math.round(reading.at - reading.machine);
    this.#agreement = { skewMs: Math.round(skewMs), machineSkewMs, agrees };
    if (agrees) {
      this.#agreed = reading;
      this.#strangeSince = null;
      if (!before) this.logger.info('The clocks agree again: what is due is claimed.');
      return;
    }
    this.#strangeSince ??= reading.monotonic;
    if (before)
      this.logger.warn(
        { clockSkewMs: this.#agreement.skewMs },
        `The clock of the database has jumped by ${(skewMs / 1_000).toFixed(1)} s. Nothing is claimed and nothing is removed until it agrees again. ` +
          'Let its machine take the time from NTP; if it is right now, restart this instance.',
      );
  }
}

/** A clock that looks after itself, until it is closed. */
export interface OpenClock extends Clock {
  close(): void;
}

/** Everything goes by the first reading, so it is repeated while it is vague: a connection may be slow once. */
async function firstReading(database: Pick<Database, 'query'>, machine: Clock): Promise<Reading> {
  for (let tries = 1; ; tries++) {
    const reading = await readClock(database, machine);
    if (reading.within <= TOO_VAGUE_MS) return reading;
    if (tries === FIRST_READINGS)
      throw new Unavailable('The database takes too long to say what time it is.', 'no');
  }
}

/** The clock of a service on this database. @throws Unavailable */
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
      // A database that is away tells no time, and nobody claims anything of it.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  return Object.assign(clock, { close: () => clearInterval(timer) });
}
