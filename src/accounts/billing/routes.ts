import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../http/request/idempotent.ts';
import { type Call, RawResponse, type Replay, type Route, route } from '../../http/request/route.ts';
import { literals } from '../../http/request/schema.ts';
import { PLAN_NAMES } from '../../platform/config/plans.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { readWorkspace } from '../workspace/queries.ts';
import { type BillingDeps, checkout, NOT_CONFIGURED, portal, readBilling, takeCallback } from './commands.ts';

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time', description }), Type.Null()]);

const Billing = Type.Object(
  {
    plan: literals(PLAN_NAMES, { description: 'The current plan.' }),
    status: Type.String({
      description:
        'The status of the subscription at Stripe: `active`, `trialing`, `past_due` (keeps its plan for 14 days), `canceled`, `incomplete` (grants nothing), …; `none` without one.',
    }),
    usage: Type.Object({ emailsSent: Type.Integer(), domains: Type.Integer() }),
    renewsAt: nullableTime('The end of the paid period, when the next payment is due.'),
    cancelAt: nullableTime('The time at which the subscription ends.'),
  },
  { title: 'Billing' },
);

const Link = Type.Object(
  { url: Type.String({ description: 'The URL to which the browser is sent.' }) },
  { title: 'BillingPage' },
);
const Checkout = Type.Object(
  { plan: literals(['starter', 'growth'], { description: 'The plan to buy.' }) },
  { title: 'CreateCheckout' },
);

type Page = { url: string } | Failure;

/**
 * The reply with a page is stored for a repeated request only after the page was created: Stripe may create
 * it twice, which costs nothing.
 */
const once = ({ database }: BillingDeps, call: Call, open: () => Promise<Page>): Promise<Page | Replay> =>
  answeredOnce(database, call, open);

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

export const billingRoutes = (deps: BillingDeps): readonly Route[] => [
  route('GET /v1/billing', {
    name: 'getBilling',
    permission: 'billing:read',
    summary: 'Get the plan, the subscription and the usage',
    description: 'Available without payments as well; the status is `none` then.',
    response: Billing,
    example: {
      response: {
        plan: 'starter',
        status: 'active',
        usage: { emailsSent: 120, domains: 1 },
        renewsAt: '2026-12-20T21:33:00.000Z',
        cancelAt: null,
      },
    },
    handle: async ({ caller, now }) => {
      const [{ plan, usage }, billing] = await Promise.all([
        readWorkspace(deps, caller, now),
        readBilling(deps.database, caller.workspaceId),
      ]);
      return {
        plan,
        status: billing?.status ?? 'none',
        usage: { emailsSent: usage.emailsSent, domains: usage.domains },
        renewsAt: time(billing?.renewsAt ?? null),
        cancelAt: time(billing?.cancelAt ?? null),
      };
    },
  }),
  route('POST /v1/billing/checkout', {
    name: 'createCheckout',
    permission: 'billing:write',
    summary: 'Get the page for buying a plan',
    description:
      'A workspace with a subscription gets the page for changing it. A larger plan takes effect once Stripe reports the payment, a smaller one at the end of the period.',
    body: Checkout,
    response: Link,
    failures: ['SERVICE_UNAVAILABLE'],
    audit: { action: 'billing.checkoutOpened', details: ({ body }) => ({ ...(body as object) }) },
    example: {
      body: { plan: 'starter' },
      response: { url: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3' },
    },
    handle: (call) => once(deps, call, () => checkout(deps, call.caller.workspaceId, call.body.plan)),
  }),
  route('POST /v1/billing/portal', {
    name: 'createPortal',
    permission: 'billing:write',
    summary: 'Get the page for managing the subscription',
    description:
      'The page is hosted by Stripe and valid for a short time. Without payments, the answer is 503.',
    response: Link,
    failures: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
    audit: { action: 'billing.portalOpened' },
    example: { response: { url: 'https://billing.stripe.com/p/session/live_a1b2c3' } },
    handle: (call) => once(deps, call, () => portal(deps, call.caller.workspaceId)),
  }),
];

/** Stripe sends from few addresses. */
const PER_MINUTE = 6_000;
const FORGED = new Failure('BAD_REQUEST', 'This callback is not signed by Stripe for this service.');

/** The endpoint for the callbacks of Stripe. */
export const billingPages = (deps: BillingDeps): readonly Route[] => [
  route('POST /callbacks/stripe', {
    permission: 'public',
    ipLimitPerMinute: PER_MINUTE,
    summary: 'Receive a callback of Stripe',
    rawBody: true,
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    bodyLimit: 524_288,
    handle: async ({ body, headers, now, requestId }) => {
      if (!deps.stripe) return NOT_CONFIGURED;
      const event = await deps.stripe.verify(body, headers.get('stripe-signature') ?? '');
      if (!event) return FORGED;
      await takeCallback(deps, event, { now, requestId });
      return new RawResponse(null, null, { status: 204 });
    },
  }),
];
