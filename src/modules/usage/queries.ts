import type { FactTable } from '../../engine/kind.ts';
import { type Meter, UNLIMITED } from '../../engine/nursery.ts';
import { Failure } from '../../http/failure.ts';

/** What a plan allows; null is no limit. The interface's table, the only place it stands in. */
export const PLANS = {
  free: { emailsPerMonth: 3_000, domains: 2 },
  starter: { emailsPerMonth: 75_000, domains: 5 },
  growth: { emailsPerMonth: 500_000, domains: null },
} as const satisfies Record<string, { emailsPerMonth: number | null; domains: number | null }>;

/** The name of a plan. */
export type PlanName = keyof typeof PLANS;

/** The UTC month (live, `2026-11`) or UTC day (test, `2026-11-20`) that a send at that moment counts against. */
export const periodOf = (livemode: boolean, at: number): string =>
  new Date(at).toISOString().slice(0, livemode ? 7 : 10);

/** Domains have no period: their units are given back when one is removed. */
export const DOMAINS_PERIOD = 'domains';

/** What one accepted email takes its unit from. `testSendsPerDay` 0 is no limit. */
export function sendMeter(livemode: boolean, plan: PlanName, testSendsPerDay: number, at: number): Meter {
  const ceiling = livemode ? PLANS[plan].emailsPerMonth : testSendsPerDay || null;
  return { period: periodOf(livemode, at), ceiling: ceiling ?? UNLIMITED };
}

/** Units that go back; one row a workspace and period, in key order as a spawn's statement locks them. */
export const givenBack: FactTable = {
  name: 'given_back',
  columns: 'period text',
  sql: (source) => `update usage u set used = greatest(0, u.used - s.units) from (
      select workspace_id, livemode, period, count(*)::integer as units from ${source} r
      group by workspace_id, livemode, period order by workspace_id, livemode, period
    ) s where u.workspace_id = s.workspace_id and u.livemode = s.livemode and u.period = s.period`,
};

/** The refusal of a send over its ceiling. It must not be retried before the period ends. */
export const quotaExceeded = (livemode: boolean): Failure =>
  livemode
    ? new Failure('QUOTA_EXCEEDED', 'The monthly email quota of this workspace is used up.', {
        suggestion:
          'It resets at the start of the next UTC month; upgrade the plan to send more before that.',
      })
    : new Failure('QUOTA_EXCEEDED', 'The daily number of test sends is used up.', {
        suggestion: 'It resets at midnight UTC. Live sends are not affected.',
      });
