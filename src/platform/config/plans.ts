/**
 * The limits of each plan; null is no limit. `unlimited` is for people who run the service for themselves,
 * and is never sold.
 */
export const PLANS = {
  free: { emailsPerMonth: 3_000, domains: 2 },
  starter: { emailsPerMonth: 75_000, domains: 5 },
  growth: { emailsPerMonth: 500_000, domains: null },
  unlimited: { emailsPerMonth: null, domains: null },
} as const satisfies Record<string, { emailsPerMonth: number | null; domains: number | null }>;

/** The name of a plan. The check of `workspaces.plan` lists the same names; a test compares the two. */
export type PlanName = keyof typeof PLANS;

/** The names of the plans, in the order of their limits. */
export const PLAN_NAMES = Object.keys(PLANS) as readonly PlanName[];
