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

const NOW = '$1::text::timestamptz';

/** The dependencies of looking for work. */
export interface WorkLookParts {
  readonly database: Pick<Database, 'query'>;
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

  /** True when the time of a look has come. */
  get isDue(): boolean {
    return !this.#isLooking && this.parts.clock.monotonic() >= this.#nextAt;
  }

  /** Those of the duties that have work. @throws UnavailableError */
  async look(asked: readonly Duty[]): Promise<readonly Duty[]> {
    const { database, clock, isAlone } = this.parts;
    this.#isLooking = true;
    this.#nextAt = clock.monotonic() + LOOK_MS;
    try {
      const [row = {}] = await database.query<Record<string, boolean>>(this.#sql, [
        new Date(clock.now()).toISOString(),
        this.#duties.map((duty) => (asked.includes(duty) ? 'y' : 'n')).join(''),
      ]);
      const found = this.#duties.filter((_, place) => row[place] === true);
      if (found.length === 0 && isAlone()) this.#nextAt = clock.monotonic() + ALONE_MS;
      return found;
    } finally {
      this.#isLooking = false;
    }
  }
}
