import type { PlanName } from '../../platform/config/plans.ts';

/** A plan that is sold, by the lookup key of its price at Stripe. */
export const PRICES = { posthorn_starter: 'starter', posthorn_growth: 'growth' } as const satisfies Record<
  string,
  PlanName
>;

export type SoldPlan = (typeof PRICES)[keyof typeof PRICES];

/** The lookup key of a plan's price. */
export const priceOf = (plan: SoldPlan): string => `posthorn_${plan}`;

/** A subscription as Stripe reports it; times are epoch milliseconds. */
export interface Subscription {
  readonly id: string;
  readonly status: string;
  readonly createdAt: number;
  /** Null for a price that this service does not know. */
  readonly plan: SoldPlan | null;
  readonly periodEnd: number | null;
  readonly cancelAt: number | null;
}

/** The stored facts about the billing of a workspace. */
export interface BillingState {
  readonly subscription: string | null;
  readonly status: string;
  /** The plan of the subscription. */
  readonly plan: SoldPlan | null;
  /** A larger plan that is paid, and valid, until then. */
  readonly paidPlan: SoldPlan | null;
  readonly paidUntil: number | null;
  readonly pastDueSince: number | null;
  readonly renewsAt: number | null;
  readonly cancelAt: number | null;
}

/** The time for which a subscription with a failed payment keeps its plan. */
const DUNNING_MS = 14 * 86_400_000;

/**
 * The states in which a subscription grants its plan. `incomplete` never does: its first payment is missing.
 */
const GIVES = new Set(['active', 'trialing', 'past_due']);
const SIZES: readonly SoldPlan[] = ['starter', 'growth'];
const isSmaller = (plan: SoldPlan, other: SoldPlan): boolean => SIZES.indexOf(plan) < SIZES.indexOf(other);

/** The subscription that counts: one that grants a plan before others, then the newest. */
export const mainOf = (subscriptions: readonly Subscription[]): Subscription | null =>
  subscriptions.toSorted(
    (a, b) =>
      Number(GIVES.has(b.status)) - Number(GIVES.has(a.status)) ||
      b.createdAt - a.createdAt ||
      (b.id < a.id ? -1 : 1),
  )[0] ?? null;

/** The state after a read from Stripe. A smaller plan waits for the end of the paid period. */
export function stateAfter(
  before: BillingState,
  subscription: Subscription | null,
  now: number,
): BillingState {
  if (!subscription) return { ...NONE, status: before.subscription === null ? 'none' : 'canceled' };
  const { id, status, plan, periodEnd, cancelAt } = subscription;
  const gives = GIVES.has(status) && plan !== null;
  // A larger plan was paid for when the last reading found it in force, or kept it.
  const paid = before.paidPlan ?? (before.status === 'active' ? before.plan : null);
  const paidUntil = before.paidPlan === null ? before.renewsAt : before.paidUntil;
  const keeps = gives && paid !== null && isSmaller(plan, paid) && paidUntil !== null && paidUntil > now;
  return {
    subscription: id,
    status,
    plan,
    paidPlan: keeps ? paid : null,
    paidUntil: keeps ? paidUntil : null,
    pastDueSince: status === 'past_due' ? (before.pastDueSince ?? now) : null,
    renewsAt: gives && cancelAt === null ? periodEnd : null,
    cancelAt,
  };
}

/** A workspace without a subscription. */
export const NONE: BillingState = {
  subscription: null,
  status: 'none',
  plan: null,
  paidPlan: null,
  paidUntil: null,
  pastDueSince: null,
  renewsAt: null,
  cancelAt: null,
};

/** The plan that a state grants now; null for none, and the plan of new workspaces applies. */
export function planOf(state: BillingState, now: number): SoldPlan | null {
  if (!GIVES.has(state.status) || state.plan === null) return null;
  if (state.pastDueSince !== null && now - state.pastDueSince >= DUNNING_MS) return null;
  return state.paidPlan !== null && (state.paidUntil ?? 0) > now ? state.paidPlan : state.plan;
}
