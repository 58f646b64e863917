import Stripe from 'stripe';

// The part of Stripe's API that this service uses, over HTTP: form-encoded requests, ids with prefixes,
// lists, idempotency keys, and callbacks signed by the helper of Stripe's own package.

interface StoredSubscription {
  readonly id: string;
  readonly object: 'subscription';
  readonly customer: string;
  readonly created: number;
  status: string;
  cancel_at: number | null;
  items: {
    object: 'list';
    data: { current_period_end: number; price: { id: string; lookup_key: string | null } }[];
  };
}

/** Stripe as a server of the test. */
export class StripeStandIn implements Disposable {
  readonly webhookSecret = 'whsec_only_for_tests';
  readonly requests: { readonly method: string; readonly path: string; readonly form: URLSearchParams }[] =
    [];
  readonly subscriptions: StoredSubscription[] = [];
  /** The number of customers that it has made. */
  customers = 0;
  /** True when it answers 500 to everything. */
  isDown = false;
  /** Is waited for after a list of subscriptions was made and before it is sent. */
  delay: () => Promise<void> | void = () => {};
  prices: Record<string, string> = { posthorn_starter: 'price_1', posthorn_growth: 'price_2' };
  readonly #replies = new Map<string, object>();
  readonly #inUse = new Set<string>();
  readonly #stripe = new Stripe('sk_test_only');
  readonly #server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => this.#answer(request) });
  #made = 0;

  get url(): string {
    return this.#server.url.origin;
  }

  /** Adds a subscription of a customer, or changes it; the price by its lookup key. */
  subscribe(
    customer: string,
    price: string,
    change: Partial<StoredSubscription> = {},
    periodEnd = inAMonth(),
  ): StoredSubscription {
    const items = {
      object: 'list' as const,
      data: [
        { current_period_end: periodEnd, price: { id: this.prices[price] ?? 'price_x', lookup_key: price } },
      ],
    };
    const known = this.subscriptions.find((each) => each.customer === customer);
    if (known) return Object.assign(known, { items }, change);
    const made: StoredSubscription = {
      id: this.#id('sub'),
      object: 'subscription',
      customer,
      created: 1_790_000_000 + this.#made,
      status: 'active',
      cancel_at: null,
      items,
      ...change,
    };
    this.subscriptions.push(made);
    return made;
  }

  /** A callback as it is sent: the body and its signature. */
  async callback(customer: string, type = 'customer.subscription.updated', change: object = {}) {
    const body = JSON.stringify({
      id: this.#id('evt'),
      object: 'event',
      type,
      livemode: false,
      created: 1_790_000_000,
      data: { object: { id: 'sub_x', object: 'subscription', customer } },
      ...change,
    });
    return { body, signature: await this.sign(body) };
  }

  sign(
    payload: string,
    secret = this.webhookSecret,
    timestamp = Math.floor(Date.now() / 1_000),
  ): Promise<string> {
    return this.#stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname: path, searchParams } = new URL(request.url);
    const form = request.method === 'GET' ? searchParams : new URLSearchParams(await request.text());
    this.requests.push({ method: request.method, path, form });
    if (!request.headers.get('authorization')?.startsWith('Bearer sk_test_'))
      return Response.json({ error: { type: 'invalid_request_error', message: 'No key' } }, { status: 401 });
    if (this.isDown) return Response.json({ error: { type: 'api_error', message: 'Down' } }, { status: 500 });
    const once = request.headers.get('idempotency-key');
    if (once !== null && this.#inUse.has(once))
      return Response.json(
        { error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } },
        { status: 409 },
      );
    if (once !== null) this.#inUse.add(once);
    try {
      return await this.#once(once, `${request.method} ${path}`, form);
    } finally {
      if (once !== null) this.#inUse.delete(once);
    }
  }

  async #once(once: string | null, what: string, form: URLSearchParams): Promise<Response> {
    const replayed = once === null ? undefined : this.#replies.get(once);
    const reply = replayed ?? (await this.#reply(what, form));
    if (!reply)
      return Response.json({ error: { type: 'invalid_request_error', message: what } }, { status: 404 });
    if (once !== null) this.#replies.set(once, reply);
    return Response.json(reply);
  }

  async #reply(what: string, form: URLSearchParams): Promise<object | null> {
    switch (what) {
      case 'POST /v1/customers':
        this.customers += 1;
        return { id: this.#id('cus'), object: 'customer', name: form.get('name') };
      case 'GET /v1/prices': {
        const price = this.prices[form.get('lookup_keys[0]') ?? ''];
        return { object: 'list', data: price ? [{ id: price, object: 'price' }] : [], has_more: false };
      }
      case 'POST /v1/checkout/sessions':
        return {
          id: this.#id('cs'),
          object: 'checkout.session',
          url: `https://checkout.stripe.test/${form.get('customer')}/${form.get('line_items[0][price]')}`,
        };
      case 'POST /v1/billing_portal/sessions':
        return {
          id: this.#id('bps'),
          object: 'billing_portal.session',
          url: `https://billing.stripe.test/${form.get('customer')}`,
        };
      case 'GET /v1/subscriptions': {
        const data = structuredClone(
          this.subscriptions.filter(({ customer }) => customer === form.get('customer')),
        );
        await this.delay();
        return { object: 'list', data, has_more: false };
      }
      default:
        return what.startsWith('DELETE /v1/subscriptions/') ? this.#cancel(what.split('/').at(-1)) : null;
    }
  }

  #cancel(id: string | undefined): object | null {
    const known = this.subscriptions.find((each) => each.id === id && each.status !== 'canceled');
    return known ? Object.assign(known, { status: 'canceled' }) : null;
  }

  #id(prefix: string): string {
    return `${prefix}_${String(++this.#made).padStart(14, '0')}`;
  }
}

/** A month from now in Unix seconds. */
export const inAMonth = (): number => Math.floor(Date.now() / 1_000) + 30 * 86_400;
