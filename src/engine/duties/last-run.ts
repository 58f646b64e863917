import type { Database } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Duty, DutyDeps } from './duty.ts';

/**
 * The stop that counts as long: longer ones are rare, and a clock that is wrong at the start is mostly wrong
 * by more.
 */
export const LONG_STOP_MS = DAY_MS;
/**
 * The time after such a start in which nothing is removed for its age: NTP, or an operator, corrects the
 * clock in it.
 */
export const HELD_AFTER_STOP_MS = 60 * 60_000;

/**
 * The last time (epoch ms) at which a service on this database went by a clock that it trusted; null before
 * the first one.
 */
export async function readLastRun(database: Database): Promise<number | null> {
  const [row] = await database.query<{ at: number }>(
    'select (extract(epoch from at) * 1000)::float8 as at from last_run',
  );
  return row?.at ?? null;
}

const NOTE = `insert into last_run (at) values ($1::text::timestamptz) on conflict (one) do update set at = excluded.at`;

/**
 * Stores the time for the next start. It counts as going by age, so that a clock that is not trusted to
 * remove data is not stored either, and a second start under it is held back as well.
 */
export const lastRunKeeper = ({ database, clock }: DutyDeps): Duty => ({
  name: 'lastRunKeeper',
  pattern: '50 */10 * * * *',
  goesByAge: true,
  run: () => database.query(NOTE, [new Date(clock.now()).toISOString()], { isRoutine: true }),
});
