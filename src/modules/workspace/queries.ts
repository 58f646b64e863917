import { and, eq, inArray } from 'drizzle-orm';
import { PLANS, type PlanName } from '../../auth/plans.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import { usageTotals, workspaces } from '../../db/schema/access.ts';
import { DOMAINS_PERIOD, periodOf } from '../usage/queries.ts';

const monthStart = (at: number, monthsAhead = 0): string => {
  const date = new Date(at);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsAhead)).toISOString();
};

/** Reads the plan of a workspace; null when there is no such workspace. */
export async function findPlan(database: Database, workspaceId: string): Promise<PlanName | null> {
  const [row] = await database.query<{ plan: PlanName }>('select plan from workspaces where id = $1', [
    workspaceId,
  ]);
  return row?.plan ?? null;
}

/** Reads the caller's workspace: its settings, plan, limits and present usage. */
export async function readWorkspace(database: Database, { workspaceId, plan }: Principal, now: number) {
  const periods = { month: periodOf(true, now), day: periodOf(false, now), domains: DOMAINS_PERIOD };
  const [[workspace], used] = await Promise.all([
    database.read((orm) => orm.select().from(workspaces).where(eq(workspaces.id, workspaceId))),
    database.read((orm) =>
      orm
        .select({ livemode: usageTotals.livemode, period: usageTotals.period, used: usageTotals.used })
        .from(usageTotals)
        .where(
          and(eq(usageTotals.workspaceId, workspaceId), inArray(usageTotals.period, Object.values(periods))),
        ),
    ),
  ]);
  if (!workspace) throw new Error('A key belongs to a workspace that does not exist.');
  const unitsOf = (period: string): number => used.find((row) => row.period === period)?.used ?? 0;
  const { logoUrl, colour, address, website } = workspace;
  return {
    id: workspace.id,
    name: workspace.name,
    defaultFrom: workspace.defaultFrom,
    defaultReplyTo: workspace.defaultReplyTo,
    branding: { logoUrl, colour, address, website },
    timeZone: workspace.timeZone,
    plan,
    limits: { ...PLANS[plan] },
    usage: {
      periodStart: monthStart(now),
      periodEnd: monthStart(now, 1),
      emailsSent: unitsOf(periods.month),
      testSendsToday: unitsOf(periods.day),
      domains: unitsOf(periods.domains),
    },
    createdAt: workspace.createdAt.toISOString(),
  };
}
