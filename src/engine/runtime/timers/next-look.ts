import type { Database } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { SettledTime } from '../../store/settled.ts';
import { iso } from './due-batches.ts';
import type { NextSweep, Sweep } from './sweep.ts';

/** None of the sweeps. */
export const NO_SWEEPS: ReadonlyMap<Sweep, NextSweep> = new Map();

const TIME = '(extract(epoch from now()) * 1000)::float8';

/** The services of a look. */
interface NextLookParts {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Clock;
  readonly settled: SettledTime;
}

/**
 * Asks for the next due actor of every kind by one statement: nearly always nothing is due, and two
 * statements a kind were most of what an idle service did.
 */
export class NextLook {
  constructor(private readonly parts: NextLookParts) {}

  /**
   * The sweeps that need not run now, each with its next moment; null when the database's clock was put back.
   * A look that sees far asks for the next actor of each kind whichever sweep takes it: that is the first
   * entry of an index, however many are scheduled.
   * @throws UnavailableError
   */
  async ask(
    sweeps: readonly Sweep[],
    aheadMs: number,
    isFar: boolean,
  ): Promise<ReadonlyMap<Sweep, NextSweep> | null> {
    if (sweeps.every(({ from }) => from === null)) return NO_SWEEPS;
    const { clock, settled } = this.parts;
    // Read before the look: what settles during it may have been missed.
    const { until } = settled;
    const monotonic = clock.monotonic();
    const now = clock.now();
    const soon = now + aheadMs;
    const froms = sweeps.map(({ from }) => from);
    // The text is always the same: a sweep that looks by itself gives no moment, and finds nothing here.
    const columns = sweeps.map(
      ({ wakeable }, place) =>
        `(${wakeable.store.sql.nextDue(isFar ? undefined : wakeable.where, `$${place + 2}`, '$1')}) as "${place}"`,
    );
    const [row = {}] = await this.parts.database.query<Record<string, number | null>>(
      `select ${TIME} as at, ${columns.join(',\n')}`,
      [iso(soon), ...froms.map((from) => (from === null ? null : iso(from)))],
      { isRoutine: true },
    );
    if (clock.agreement && !settled.follow(Math.floor(row.at ?? 0), monotonic)) return null;
    const resting = new Map<Sweep, NextSweep>();
    for (const [place, sweep] of sweeps.entries()) {
      if (froms[place] === null) continue;
      const found = row[place];
      const at = found == null ? null : Math.floor(found);
      if (at === null || at > now) resting.set(sweep, sweep.pass(at, soon, until));
    }
    return resting;
  }
}
