import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { Duty } from './duty.ts';

/** The time between two looks while there is work, or other instances make some. */
const LOOK_MS = 900;
/**
 * The same for an instance that is alone and found no work: what its own requests begin waits so long at most, unless
 * the duty says that it is wanted (`Duty.isWanted`).
 */
const ALONE_MS = 2_900;
/**
 * The same where, beside that, this process has asked the database for nothing but such looks since the last one: only
 * time can have made work then.
 */
const REST_MS = 9_900;

const NOW = '$1::text::timestamptz';

/** The dependencies of looking for work. */
export interface WorkLookParts {
  readonly database: Pick<Database, 'query' | 'worked'>;
  readonly clock: Clock;
  /** True when no other instance lives. */
  isAlone(): boolean;
}

/**
 * Looks for the work of all duties that say how (`Duty.asks`), by one statement: a service that has nothing to do
 * asked 28 statements a second before, of which none found anything.
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

  constructor(
    duties: readonly Duty[],
    private readonly parts: WorkLookParts,
  ) {
    this.#duties = duties.filter(({ asks }) => asks);
    const columns = this.#duties.map(
      ({ asks }, place) =>
        `case when substr($2::text, ${place + 1}, 1) = 'y' then ${asks?.(NOW)} else false end as "${place}"`,
    );
    this.#sql = `select ${[...columns, `${NOW} as now`].join(',\n')}`;
  }

  /** The time until the next look; none while one is under way. */
  get dueIn(): number {
    if (this.#isLooking) return Number.POSITIVE_INFINITY;
    const { ms, worked } = this.#rest;
    const { database, clock, isAlone } = this.parts;
    const rest = database.worked === worked && isAlone() ? ms : 0;
    return Math.max(0, this.#nextAt + rest - clock.monotonic());
  }

  /** Those of the duties that have work. @throws UnavailableError */
  async look(asked: readonly Duty[]): Promise<readonly Duty[]> {
    const { database, clock, isAlone } = this.parts;
    this.#isLooking = true;
    this.#nextAt = clock.monotonic() + LOOK_MS;
    // Read before the look, which may miss what is done during it.
    const { worked } = database;
    this.#rest = { ms: 0, worked };
    // Only a look for the work of all duties shows that there is none: each of them may ask at its own seconds.
    const isWhole = this.#wasQuiet && isAlone();
    try {
      const [row = {}] = await database.query<Record<string, boolean>>(
        this.#sql,
        [
          new Date(clock.now()).toISOString(),
          this.#duties.map((duty) => (isWhole || asked.includes(duty) ? 'y' : 'n')).join(''),
        ],
        { isRoutine: true },
      );
      const found = this.#duties.filter((_, place) => row[place] === true);
      this.#wasQuiet = found.length === 0;
      if (this.#wasQuiet && isAlone()) {
        this.#nextAt = clock.monotonic() + ALONE_MS;
        if (isWhole) this.#rest = { ms: REST_MS - ALONE_MS, worked };
      }
      return found.filter((duty) => asked.includes(duty));
    } finally {
      this.#isLooking = false;
    }
  }
}
