import { eq, sql } from 'drizzle-orm';
import type { Log } from '../../http/log.ts';
import type { PlanName } from '../../platform/config/plans.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import { billing, stripeEvents, workspaces } from '../../platform/db/schema/workspaces.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { StripeClient } from './stripe-client.ts';
import { type BillingState, mainOf, planOf, type SoldPlan, stateAfter } from './subscription-state.ts';

export interface BillingDeps {
  readonly database: Database;
  /** Null where Stripe is not configured. */
  readonly stripe: StripeClient | null;
  readonly publicUrl: string;
  /** The plan of a workspace without a subscription. */
  readonly defaultPlan: PlanName;
  readonly log: Log;
}

/** The refusal of an installation without payments. */
export const NOT_CONFIGURED = new Failure(
  'SERVICE_UNAVAILABLE',
  'Billing is off: STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET are not set.',
  { suggestion: 'Set both, or choose a plan with posthorn plan set <workspace> <plan>.' },
);
const NO_CUSTOMER = new Failure('CONFLICT', 'This workspace has no subscription yet.', {
  suggestion: 'Start with POST /v1/billing/checkout.',
});
const NO_PRICE = new Failure('SERVICE_UNAVAILABLE', 'Stripe has no active price for this plan.', {
  suggestion: 'Set the lookup key posthorn_starter or posthorn_growth on a price at Stripe.',
});

/** The stored billing of a workspace. */
export type StoredBilling = BillingState & { readonly customer: string };

/** Reads the billing of a workspace; null when it has no customer at Stripe. @throws UnavailableError */
export async function readBilling(database: Database, workspaceId: string): Promise<StoredBilling | null> {
  const [row] = await database.read(
    (orm) => orm.select().from(billing).where(eq(billing.workspaceId, workspaceId)),
    PREPARED,
  );
  if (!row) return null;
  return {
    customer: row.customer,
    subscription: row.subscription,
    status: row.status,
    plan: row.plan as SoldPlan | null,
    paidPlan: row.paidPlan as SoldPlan | null,
    paidUntil: row.paidUntil?.getTime() ?? null,
    pastDueSince: row.pastDueSince?.getTime() ?? null,
    renewsAt: row.renewsAt?.getTime() ?? null,
    cancelAt: row.cancelAt?.getTime() ?? null,
  };
}

/**
 * The page for buying a plan. A workspace with a subscription changes it in the portal; otherwise it would
 * have two. @throws UnavailableError
 */
export async function checkout(
  deps: BillingDeps,
  workspaceId: string,
  plan: SoldPlan,
): Promise<{ url: string } | Failure> {
  const { stripe, publicUrl } = deps;
  if (!stripe) return NOT_CONFIGURED;
  const returnTo = `${publicUrl}/app`;
  const customer = await customerOf(deps, stripe, workspaceId);
  // Another tab may have bought it a moment ago, so the code asks Stripe instead of the table.
  const live = (await stripe.subscriptions(customer)).some(({ status }) => OPEN.has(status));
  if (live) return { url: await stripe.portal(customer, returnTo) };
  const url = await stripe.checkout(customer, plan, returnTo);
  return url === null ? NO_PRICE : { url };
}

const OPEN = new Set(['active', 'trialing', 'past_due', 'unpaid', 'paused']);

/** The page for changing, paying and ending the subscription. @throws UnavailableError */
export async function portal(
  { stripe, database, publicUrl }: BillingDeps,
  workspaceId: string,
): Promise<{ url: string } | Failure> {
  if (!stripe) return NOT_CONFIGURED;
  const stored = await readBilling(database, workspaceId);
  return stored ? { url: await stripe.portal(stored.customer, `${publicUrl}/app`) } : NO_CUSTOMER;
}

/**
 * A customer that another tab has just created stays and is used, because its purchases are found by it. The
 * insert names no conflict column: for two tabs at once, Stripe creates one customer, and its key may
 * conflict before the key of the workspace.
 */
async function customerOf(
  { database }: BillingDeps,
  stripe: StripeClient,
  workspaceId: string,
): Promise<string> {
  const before = await readBilling(database, workspaceId);
  if (before) return before.customer;
  const [workspace] = await database.read((orm) =>
    orm.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, workspaceId)),
  );
  const customer = await stripe.createCustomer(workspaceId, workspace?.name ?? workspaceId);
  await database.read((orm) => orm.insert(billing).values({ workspaceId, customer }).onConflictDoNothing());
  return (await readBilling(database, workspaceId))?.customer ?? customer;
}

/**
 * The plan is written with the state, but only where billing has set one before: a plan set by the operator
 * stays.
 */
const WRITE = `with written as (
  update billing set subscription = $3, status = $4, plan = $5, paid_plan = $6,
    paid_until = $7::text::timestamptz, past_due_since = $8::text::timestamptz,
    renews_at = $9::text::timestamptz, cancel_at = $10::text::timestamptz, read = $2::bigint
  where workspace_id = $1 and read < $2::bigint returning workspace_id
)
update workspaces w set plan = $11 from written where w.id = written.workspace_id and $11::text is not null`;

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/**
 * Reads the subscription of a customer at Stripe and writes its plan. A callback only says that something has
 * changed, so repeated, late or reordered callbacks lead to the same state. @throws UnavailableError
 */
export async function synchronise(
  { database, stripe, defaultPlan, log }: BillingDeps,
  customer: string,
  { now, requestId }: { readonly now: number; readonly requestId?: string },
): Promise<void> {
  if (!stripe) return;
  const [begun] = await database.read((orm) =>
    orm
      .update(billing)
      .set({ asked: sql`${billing.asked} + 1` })
      .where(eq(billing.customer, customer))
      .returning({ workspaceId: billing.workspaceId, asked: billing.asked }),
  );
  if (!begun) return;
  const subscription = mainOf(await stripe.subscriptions(customer));
  const before = await readBilling(database, begun.workspaceId);
  if (!before) return;
  if (subscription && subscription.plan === null) {
    const about = { ...(requestId && { requestId }), customer, subscription: subscription.id };
    log.error(about, 'A subscription has a price that belongs to another service');
    return;
  }
  const state = stateAfter(before, subscription, now);
  const given = planOf(state, now);
  const plan = given ?? (before.subscription !== null || subscription ? defaultPlan : null);
  await database.query(WRITE, [
    begun.workspaceId,
    begun.asked,
    state.subscription,
    state.status,
    state.plan,
    state.paidPlan,
    time(state.paidUntil),
    time(state.pastDueSince),
    time(state.renewsAt),
    time(state.cancelAt),
    plan,
  ]);
}

/**
 * Ends the subscriptions of a workspace before it is erased, because afterwards no row would name their
 * owner. Repeating it changes nothing. @throws UnavailableError while Stripe is away, so that the workspace
 * is erased later
 */
export async function endSubscriptions(
  { database, stripe, log }: Pick<BillingDeps, 'database' | 'stripe' | 'log'>,
  workspaceId: string,
): Promise<void> {
  const stored = await readBilling(database, workspaceId);
  if (!stored) return;
  if (!stripe) {
    if (OPEN.has(stored.status))
      log.error(
        { customer: stored.customer },
        'A workspace with an active subscription is being erased: end the subscription at Stripe',
      );
    return;
  }
  // A subscription whose first payment is missing may still be paid.
  for (const { id, status } of await stripe.subscriptions(stored.customer))
    if (OPEN.has(status) || status === 'incomplete') await stripe.cancel(id);
}

/**
 * Carries out a callback of Stripe once: it is stored after its work is done, so that Stripe repeats it after
 * a failure. @throws UnavailableError
 */
export async function takeCallback(
  deps: BillingDeps,
  event: { readonly id: string; readonly customer: string | null },
  at: { readonly now: number; readonly requestId: string },
): Promise<void> {
  const known = await deps.database.read((orm) =>
    orm.select({ id: stripeEvents.id }).from(stripeEvents).where(eq(stripeEvents.id, event.id)),
  );
  if (known.length > 0) return;
  if (event.customer !== null) await synchronise(deps, event.customer, at);
  const done = { id: event.id, at: new Date(at.now) };
  await deps.database.read((orm) =>
    orm.insert(stripeEvents).values(done).onConflictDoNothing({ target: stripeEvents.id }),
  );
}

/**
 * Reads every subscription again, for lost callbacks and for plans whose period has ended. @throws
 * UnavailableError
 */
export async function synchroniseAll(
  deps: BillingDeps,
  now: () => number,
  stop?: AbortSignal,
): Promise<void> {
  const rows = await deps.database.read((orm) =>
    orm.select({ customer: billing.customer }).from(billing).orderBy(billing.customer),
  );
  for (const { customer } of rows) if (!stop?.aborted) await synchronise(deps, customer, { now: now() });
}
