import { DAY_MS } from '../../platform/time/clock.ts';
import type { DutyDeps } from './duty.ts';

/**
 * The days that data is kept, as the configuration says: test data from its creation, live data from its
 * sending.
 */
export interface RetentionDays {
  readonly retentionTestDays: number;
  readonly retentionLiveDays: number;
}

/** The dependencies of a duty that removes what is older than the days of its environment. */
export interface RetentionDeps extends DutyDeps {
  readonly config: RetentionDays;
  readonly isDistributed?: boolean;
}

/** The number of writes that are kept of an actor without an end: years of daily checks. */
export const KEPT_WRITES = 1_000;

/** The most rows that one statement of a duty removes, which holds locks for a few milliseconds. */
export const RETENTION_BATCH = 1_000;

const NOTE = `insert into retention (livemode, removed_before) values ($1::boolean, $2::text::timestamptz)
on conflict (livemode) do update set removed_before = excluded.removed_before
where retention.removed_before < excluded.removed_before`;

/** The moment (epoch ms) before which the data of an environment is to be removed. */
export const endOfRemoval = (
  { clock, config }: Pick<RetentionDeps, 'clock' | 'config'>,
  livemode: boolean,
): number => clock.now() - (livemode ? config.retentionLiveDays : config.retentionTestDays) * DAY_MS;

/**
 * Returns the moment (epoch ms) before which the data of an environment is to be removed, and stores it
 * first: the audit relies on the recorded removals, even if the settings have changed since. @throws
 * UnavailableError
 */
export async function beginRemoval(deps: RetentionDeps, livemode: boolean): Promise<number> {
  const before = endOfRemoval(deps, livemode);
  await deps.database.query(NOTE, [livemode, new Date(before).toISOString()]);
  return before;
}
