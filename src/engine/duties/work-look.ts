import type { Database } from '../../platform/db/database.ts';
import { type Clock, LeapMeter } from '../../platform/time/clock.ts';
import type { Duty } from './duty.ts';

/** The time between two looks while there is work, or other instances make some. */
const LOOK_MS = 900;
/**
 * The same for an instance that is alone and found no work: what its own requests begin waits so long at
 * most, unless the duty says that it is wanted (`Duty.isWanted`).
 */
const ALONE_MS = 2_900;
/**
 * The same where, beside that, this process has asked the database for nothing but such looks since the last
 * one: only time can have made work then, and there is some that only waits for its time.
 */
const REST_MS = 9_900;
/**
 * The same where no work waits for its time. Another instance may die before it has told of work that it
 * leaves; the embedded database has no others.
 */
const FAR_MS = { postgres: 30_000, embedded: 600_000 };

/**
 * For this time after another instance has ended or asked for help it rests no more: leases of duties last
 * some seconds.
 */
const AWAKE_MS = 10_000;
/**
 * A change of the clock beside the monotonic one, after which a rest is over: the machine may have been
 * suspended.
 */
const LEAP_MS = 1_000;

const NOW = '$1::text::timestamptz';
const LATER = '$3::text::timestamptz';

/** The dependencies of looking for work. */
export interface WorkLookParts {
  readonly database: Pick<Database, 'kind' | 'query' | 'worked'>;
  readonly clock: Clock;
  /** True when no other instance lives whose work this one has to look for. */
  isAlone(): boolean;
}

/**
 * Looks for the work of all duties that say how (`Duty.asks`), by one statement: a service that has nothing
 * to do asked 28 statements a second before, of which none found anything.
 */
export class WorkLook {
  readonly #duties: readonly Duty[];
  /** $2 says by a letter for each duty whether it is asked for: the text is always the same. */
  readonly #sql: string;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** The further time that it may rest, and the count of what the process had done by then. */
  #rest = { ms: 0, worked: 0 };
  /** The last look found nothing. */
  #wasQuiet = false;
  #isLooking = false;
  /** The monotonic moment up to which it does not rest. */
  #awakeUntil = Number.NEGATIVE_INFINITY;
  /** Measures from the last look. */
  readonly #leap: LeapMeter;

  constructor(
    duties: readonly Duty[],
    private readonly parts: WorkLookParts,
  ) {
    this.#leap = new LeapMeter(parts.clock);
    this.#duties = duties.filter(({ asks }) => asks);
    const columns = this.#duties.map(
      ({ asks }, place) =>
        `case when substr($2::text, ${place + 1}, 1) = 'y' then ${asks?.(NOW)} else false end as "${place}"`,
    );
    const waiting = this.#duties.filter(({ asks }) => asks?.(NOW) !== asks?.(LATER));
    const later = waiting.map(({ asks }) => asks?.(LATER)).join(' or ') || 'false';
    this.#sql = `select ${[...columns, `${NOW} as now`, `case when ${LATER} is null then null else ${later} end as later`].join(',\n')}`;
  }

  /** The time until the next look; none while one is under way. */
  get dueIn(): number {
    if (this.#isLooking) return Number.POSITIVE_INFINITY;
    const { ms, worked } = this.#rest;
    const { database, clock } = this.parts;
    const hasLeapt = Math.abs(this.#leap.leapMs) > LEAP_MS;
    const rest = database.worked === worked && this.#mayRest && !hasLeapt ? ms : 0;
    return Math.max(0, this.#nextAt + rest - clock.monotonic());
  }

  get #mayRest(): boolean {
    return this.parts.isAlone() && this.parts.clock.monotonic() >= this.#awakeUntil;
  }

  /** Has the next look be soon, and others follow it: another instance has left work. */
  hurry(): void {
    const monotonic = this.parts.clock.monotonic();
    this.#nextAt = Math.min(this.#nextAt, monotonic);
    this.#awakeUntil = monotonic + AWAKE_MS;
  }

  /** Those of the duties that have work. @throws UnavailableError */
  async look(asked: readonly Duty[]): Promise<readonly Duty[]> {
    const { database, clock } = this.parts;
    this.#isLooking = true;
    this.#nextAt = clock.monotonic() + LOOK_MS;
    // Read before the look, which may miss what is done during it.
    const { worked } = database;
    this.#rest = { ms: 0, worked };
    // Only a look for the work of all duties shows that there is none: each of them may ask at its own
    // seconds.
    const isWhole = this.#wasQuiet && this.#mayRest;
    try {
      this.#leap.reset();
      const now = clock.now();
      const farMs = FAR_MS[database.kind];
      const [row = {}] = await database.query<Record<string, boolean>>(
        this.#sql,
        [
          new Date(now).toISOString(),
          this.#duties.map((duty) => (isWhole || asked.includes(duty) ? 'y' : 'n')).join(''),
          isWhole ? new Date(now + farMs).toISOString() : null,
        ],
        { isRoutine: true },
      );
      const found = this.#duties.filter((_, place) => row[place] === true);
      this.#wasQuiet = found.length === 0;
      if (this.#wasQuiet && this.#mayRest) {
        this.#nextAt = clock.monotonic() + ALONE_MS;
        if (isWhole) this.#rest = { ms: (row.later === false ? farMs : REST_MS) - ALONE_MS, worked };
      }
      return found.filter((duty) => asked.includes(duty));
    } finally {
      this.#isLooking = false;
    }
  }
}
