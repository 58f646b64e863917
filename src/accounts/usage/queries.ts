import type { FactTable } from '../../engine/machine/kind.ts';
import type { Meter } from '../../engine/machine/result.ts';
import { PLANS, type PlanName } from '../../platform/config/plans.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { periodOf } from '../../platform/time/clock.ts';

/** Domains have no period: removing one returns its unit. */
export const DOMAINS_PERIOD = 'domains';

/** The counter of the unit of an accepted email. `testSendsPerDay` 0 means no limit. */
export function sendMeter(livemode: boolean, plan: PlanName, testSendsPerDay: number, at: number): Meter {
  const quota = livemode ? PLANS[plan].emailsPerMonth : testSendsPerDay || null;
  return { period: periodOf(livemode, at), quota };
}

const USED = `select used from usage_totals where workspace_id = $1 and livemode = $2::boolean and period = $3`;

/** The units of emails in the current period. @throws UnavailableError */
export async function findUsed(
  database: Database,
  workspaceId: string,
  livemode: boolean,
  now: number,
): Promise<number> {
  const [row] = await database.query<{ used: number }>(USED, [
    workspaceId,
    livemode,
    periodOf(livemode, now),
  ]);
  return row?.used ?? 0;
}

/**
 * Returns units: one row per workspace and period, in key order as a spawn's statement locks them. While the
 * unit is still a separate entry, the row is below zero until that entry is added up.
 */
export const givenBack: FactTable = {
  name: 'given_back',
  columns: 'period text',
  sql: (source) => `insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
    select workspace_id, livemode, period, -count(*), 0, 0, 0 from ${source} r
    group by workspace_id, livemode, period order by workspace_id, livemode, period
    on conflict (workspace_id, livemode, period) do update set used = u.used + excluded.used`,
};

/** The refusal of a send over its quota. It must not be retried before the period ends. */
export const quotaExceeded = (livemode: boolean): Failure =>
  livemode
    ? new Failure('QUOTA_EXCEEDED', 'The monthly email quota of this workspace is used up.', {
        suggestion:
          'It resets at the start of the next UTC month. Upgrade the plan to send more before that.',
      })
    : new Failure('QUOTA_EXCEEDED', 'The daily number of test sends is used up.', {
        suggestion: 'It resets at midnight UTC. Live sends are not affected.',
      });
