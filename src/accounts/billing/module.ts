import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import type { Module } from '../../http/module.ts';
import type { BillingApi } from './api.ts';
import { type BillingDeps, endSubscriptions, synchroniseAll } from './commands.ts';
import { billingPages, billingRoutes } from './routes.ts';
import { stripeOf } from './stripe-client.ts';

const BATCH = 5_000;
/** Stripe repeats a callback for three days. */
const KEPT_MS = 30 * 86_400_000;
const PRUNE = `delete from stripe_events where id in (
  select id from stripe_events where at < $1::text::timestamptz order by at limit ${BATCH} for update skip locked
) returning 1 as one`;

/** Reads every subscription again, and forgets old callbacks. */
const billingSynchroniser = (deps: BillingDeps, now: () => number): Duty => ({
  name: 'billingSynchroniser',
  pattern: '30 12 * * * *',
  goesByAge: true,
  async run(stop) {
    await synchroniseAll(deps, now, stop);
    await untilDone(deps.database, PRUNE, [new Date(now() - KEPT_MS).toISOString()], BATCH, stop);
  },
});

/** Billing through Stripe, where it is configured. */
export const billingModule: Module<BillingDeps, object, BillingApi> = {
  name: 'billing',
  tags: [{ segment: 'billing', name: 'Billing', description: 'The plan and its payment.' }],
  routes: billingRoutes,
  pages: billingPages,
  open({ config, database, clock, logger: log }) {
    const { publicUrl, defaultPlan } = config;
    const stripe = stripeOf(config);
    const deps: BillingDeps = { database, stripe, publicUrl, defaultPlan, log };
    return {
      connect: () => ({
        api: { endSubscriptions: (workspaceId) => endSubscriptions(deps, workspaceId) },
        deps,
        duties: stripe ? [billingSynchroniser(deps, () => clock.now())] : [],
      }),
    };
  },
};
