import type Stripe from 'stripe';
import type { Config } from '../../platform/config/config.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { PRICES, priceOf, type SoldPlan, type Subscription } from './subscription-state.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Another host than Stripe's (tests). */
  readonly apiBase: string | null;
}

/** The configured client; null without one. */
export const stripeOf = ({
  stripeSecretKey: secretKey,
  stripeWebhookSecret: webhookSecret,
  stripeApiBase: apiBase,
}: Pick<Config, 'stripeSecretKey' | 'stripeWebhookSecret' | 'stripeApiBase'>): StripeClient | null =>
  secretKey !== null && webhookSecret !== null
    ? new StripeClient({ secretKey, webhookSecret, apiBase })
    : null;

/** A callback that Stripe has signed. */
export interface StripeEvent {
  readonly id: string;
  /** Null when the event is about no customer. */
  readonly customer: string | null;
}

/** The timeout in milliseconds of Stripe for its callback, and of a person for a page. */
const TIMEOUT_MS = 6_000;

/** Stripe through its own package, which is loaded when it is first needed. */
export class StripeClient {
  #client: Promise<Stripe> | null = null;

  constructor(private readonly settings: StripeSettings) {}

  /** Creates the customer of a workspace; repeating it returns the same customer. */
  createCustomer(workspaceId: string, name: string): Promise<string> {
    return this.#ask(async (stripe) => {
      const customer = await stripe.customers.create(
        { name, metadata: { workspaceId } },
        { idempotencyKey: `customer-${workspaceId}` },
      );
      return customer.id;
    });
  }

  /** The page for buying a plan; null when Stripe has no price for it. */
  checkout(customer: string, plan: SoldPlan, returnTo: string): Promise<string | null> {
    return this.#ask(async (stripe) => {
      const prices = await stripe.prices.list({ lookup_keys: [priceOf(plan)], active: true, limit: 1 });
      const price = prices.data[0];
      if (!price) return null;
      const session = await stripe.checkout.sessions.create({
        mode: 'subscription',
        customer,
        line_items: [{ price: price.id, quantity: 1 }],
        success_url: returnTo,
        cancel_url: returnTo,
      });
      return session.url;
    });
  }

  /** The page for changing and paying the subscription. */
  portal(customer: string, returnTo: string): Promise<string> {
    return this.#ask(async (stripe) => {
      const session = await stripe.billingPortal.sessions.create({ customer, return_url: returnTo });
      return session.url;
    });
  }

  /** All subscriptions of a customer, ended ones included. */
  subscriptions(customer: string): Promise<readonly Subscription[]> {
    return this.#ask(async (stripe) => {
      const list = await stripe.subscriptions.list({ customer, status: 'all', limit: 100 });
      return list.data.map(subscriptionOf);
    });
  }

  /** Ends a subscription now; an ended one stays so. */
  cancel(subscription: string): Promise<void> {
    return this.#ask(async (stripe) => {
      await stripe.subscriptions.cancel(subscription);
    });
  }

  /** Checks the signature of a callback; null for a wrong or an old one. */
  async verify(body: Uint8Array, signature: string): Promise<StripeEvent | null> {
    const stripe = await this.#open();
    try {
      const event = await stripe.webhooks.constructEventAsync(
        Buffer.from(body),
        signature,
        this.settings.webhookSecret,
      );
      // A callback of the other mode concerns other customers.
      if (event.livemode !== /^[a-z]+_live_/.test(this.settings.secretKey)) return null;
      const customer = customerOf(event.data.object);
      return [event.id, customer ?? ID].every(isStripeId) ? { id: event.id, customer } : null;
    } catch {
      return null;
    }
  }

  async #ask<Answer>(work: (stripe: Stripe) => Promise<Answer>): Promise<Answer> {
    const stripe = await this.#open();
    try {
      return await work(stripe);
    } catch (cause) {
      throw new UnavailableError('Stripe sent an unexpected answer.', 'unknown', 30, { cause });
    }
  }

  #open(): Promise<Stripe> {
    this.#client ??= import('stripe').then(({ default: StripeSdk }) => {
      const { secretKey, apiBase } = this.settings;
      const base = apiBase === null ? null : new URL(apiBase);
      return new StripeSdk(secretKey, {
        timeout: TIMEOUT_MS,
        maxNetworkRetries: 1,
        telemetry: false,
        ...(base && {
          host: base.hostname,
          port: base.port === '' ? (base.protocol === 'http:' ? 80 : 443) : Number(base.port),
          protocol: base.protocol === 'http:' ? 'http' : 'https',
        }),
      });
    });
    return this.#client;
  }
}

const ID = 'none';
/** Every id of Stripe has this form; other values could not be stored. */
const isStripeId = (id: unknown): boolean => typeof id === 'string' && /^\w{1,255}$/.test(id);

function customerOf(object: object): string | null {
  if ('object' in object && object.object === 'customer' && 'id' in object) return String(object.id);
  const customer = 'customer' in object ? object.customer : null;
  if (typeof customer === 'string') return customer;
  return typeof customer === 'object' && customer !== null && 'id' in customer ? String(customer.id) : null;
}

function subscriptionOf(subscription: Stripe.Subscription): Subscription {
  const [item] = subscription.items.data;
  const key = item?.price.lookup_key ?? '';
  return {
    id: subscription.id,
    status: subscription.status,
    createdAt: subscription.created * 1_000,
    plan: Object.hasOwn(PRICES, key) ? PRICES[key as keyof typeof PRICES] : null,
    // The period is on the item, and no longer on the subscription.
    periodEnd: item ? item.current_period_end * 1_000 : null,
    cancelAt: subscription.cancel_at === null ? null : subscription.cancel_at * 1_000,
  };
}
