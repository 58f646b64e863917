import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  checkout,
  endSubscriptions,
  readBilling,
  synchroniseAll,
} from '../../src/accounts/billing/commands.ts';
import { StripeClient } from '../../src/accounts/billing/stripe-client.ts';
import { workspaceEraser } from '../../src/accounts/workspace/erase.ts';
import { inAMonth, StripeStandIn } from '../support/stripe-stand-in.ts';
import { type RealService, startRealService } from './real-service.ts';

const DAY = 86_400;
const stripe = new StripeStandIn();
let service: RealService;
let key: string;

beforeAll(async () => {
  service = await startRealService({
    STRIPE_SECRET_KEY: 'sk_test_only_for_tests',
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_BASE: stripe.url,
  });
  key = await service.keyWith('live', ['*']);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  stripe[Symbol.dispose]();
});

const billing = async () => (await service.ask({ path: '/v1/billing', key })).body.data;
const post = (path: string, body: unknown = {}) =>
  service.ask({ method: 'POST', path: `/v1/billing/${path}`, key, body });
const send = ({ body, signature }: { body: string; signature: string }) =>
  service.ask({
    method: 'POST',
    path: '/callbacks/stripe',
    body,
    headers: { 'stripe-signature': signature },
  });
const customer = async (): Promise<string> => {
  const [row] = await service.service.database.query<{ customer: string }>('select customer from billing');
  return row?.customer ?? '';
};
const told = async (
  change: Parameters<StripeStandIn['subscribe']>[2],
  price = 'posthorn_starter',
  periodEnd = inAMonth(),
) => {
  stripe.subscribe(await customer(), price, change, periodEnd);
  expect((await send(await stripe.callback(await customer()))).status).toBe(204);
  return billing();
};
const clientOf = () =>
  new StripeClient({ secretKey: 'sk_test_x', webhookSecret: stripe.webhookSecret, apiBase: stripe.url });
const reread = (now: () => number) =>
  synchroniseAll(
    {
      database: service.service.database,
      publicUrl: '',
      defaultPlan: 'free',
      log: { warn() {}, error() {} },
      stripe: clientOf(),
    },
    now,
  );

test('without Stripe the plan is shown, and the routes that sell one say how to choose it', async () => {
  await using plain = await startRealService();
  const other = await plain.keyWith('live', ['*']);
  const { body } = await plain.ask({ path: '/v1/billing', key: other });
  expect(body.data).toEqual({
    plan: 'free',
    status: 'none',
    renewsAt: null,
    cancelAt: null,
    usage: { emailsSent: 0, domains: 0 },
  });
  for (const [path, sent] of [
    ['/v1/billing/checkout', { plan: 'starter' }],
    ['/v1/billing/portal', {}],
  ] as const) {
    const refused = await plain.ask({ method: 'POST', path, key: other, body: sent });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(refused.body.error.suggestion).toContain('posthorn plan set');
  }
  expect((await plain.ask({ method: 'POST', path: '/callbacks/stripe', body: '{}' })).status).toBe(503);
});

describe('a checkout', () => {
  test('of two tabs at the same time makes one customer, and gives nothing before it is paid', async () => {
    expect((await post('portal')).status).toBe(409);
    const both = await Promise.all([
      post('checkout', { plan: 'starter' }),
      post('checkout', { plan: 'growth' }),
    ]);
    expect(both.map(({ body }) => body.data?.url ?? body)).toEqual([
      `https://checkout.stripe.test/${await customer()}/price_1`,
      `https://checkout.stripe.test/${await customer()}/price_2`,
    ]);
    expect(await billing()).toMatchObject({ plan: 'free', status: 'none' });
    for (const plan of ['unlimited', 'free', 'x'])
      expect((await post('checkout', { plan })).status).toBe(422);
    expect(await told({ status: 'incomplete' })).toMatchObject({ plan: 'free', status: 'incomplete' });
  });

  test('of two tabs goes on with the customer that is kept, whatever Stripe has made of the second request', async () => {
    const { database } = service.service;
    await database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_tabs', 'T', 'free', now())`,
    );
    let made = 0;
    const together = Promise.withResolvers<void>();
    const forgetful = {
      createCustomer: async () => {
        const id = `cus_${++made}`;
        if (made === 2) together.resolve();
        await together.promise;
        return id;
      },
      subscriptions: async () => [],
      checkout: async (asked: string) => asked,
    } as unknown as StripeClient;
    const log = { warn() {}, error() {} };
    const deps = { database, stripe: forgetful, publicUrl: '', defaultPlan: 'free', log } as const;
    const both = await Promise.all([
      checkout(deps, 'ws_tabs', 'starter'),
      checkout(deps, 'ws_tabs', 'growth'),
    ]);
    const kept = (await readBilling(database, 'ws_tabs'))?.customer;
    expect([made, both]).toEqual([2, [{ url: kept }, { url: kept }] as never]);
    await database.query(`delete from billing where workspace_id = 'ws_tabs'`);
  });

  test('that is repeated with its Idempotency-Key answers the same page and asks Stripe nothing', async () => {
    const asking = {
      method: 'POST',
      path: '/v1/billing/checkout',
      key,
      headers: { 'idempotency-key': 'once' },
    };
    const first = await service.ask({ ...asking, body: { plan: 'starter' } });
    const before = stripe.requests.length;
    const again = await service.ask({ ...asking, body: { plan: 'starter' } });
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect(stripe.requests).toHaveLength(before);
    expect((await service.ask({ ...asking, body: { plan: 'growth' } })).body.error.code).toBe(
      'IDEMPOTENCY_CONFLICT',
    );
  });

  test('of who has a subscription leads to the page where it is changed', async () => {
    expect(await told({ status: 'active' })).toMatchObject({
      plan: 'starter',
      status: 'active',
      renewsAt: expect.any(String),
    });
    const { data } = (await post('checkout', { plan: 'growth' })).body;
    expect(data.url).toBe(`https://billing.stripe.test/${await customer()}`);
    expect((await post('portal')).body.data.url).toBe(data.url);
    expect((await service.ask({ path: '/v1/workspace', key })).body.data.limits.emailsPerMonth).toBe(75_000);
  });
});

describe('a subscription', () => {
  test('that grows holds at once; one that shrinks, from the end of what was paid', async () => {
    const end = Math.floor(Date.now() / 1_000) + 10 * DAY;
    expect(await told({}, 'posthorn_growth', end)).toMatchObject({ plan: 'growth' });
    expect(await told({}, 'posthorn_starter', end + 30 * DAY)).toMatchObject({
      plan: 'growth',
      status: 'active',
    });
    expect(await told({}, 'posthorn_starter', end + 30 * DAY)).toMatchObject({ plan: 'growth' });
    await reread(() => (end + 1) * 1_000);
    expect(await billing()).toMatchObject({ plan: 'starter' });
  });

  test('that is not paid keeps its plan for fourteen days, and one that ended gives none', async () => {
    expect(await told({ status: 'past_due' })).toMatchObject({ plan: 'starter', status: 'past_due' });
    await reread(() => Date.now() + (14 * DAY - 60) * 1_000);
    expect(await billing()).toMatchObject({ plan: 'starter' });
    await reread(() => Date.now() + (14 * DAY + 60) * 1_000);
    expect(await billing()).toMatchObject({ plan: 'free', status: 'past_due' });
    expect(await told({ status: 'active', cancel_at: inAMonth() })).toMatchObject({
      plan: 'starter',
      renewsAt: null,
      cancelAt: expect.any(String),
    });
    expect(await told({ status: 'canceled' })).toMatchObject({ plan: 'free', status: 'canceled' });
  });

  test('of a price that this service does not know changes nothing and raises an alarm', async () => {
    expect(await told({ status: 'active', cancel_at: null })).toMatchObject({ plan: 'starter' });
    expect(await told({}, 'price_of_another_service')).toMatchObject({ plan: 'starter' });
    expect(service.logged()).toContain('price that belongs to another service');
    await told({}, 'posthorn_starter');
  });
});

describe('a callback', () => {
  test('is refused when it was signed by another, for another body, in the other mode, or too long ago', async () => {
    const { body, signature } = await stripe.callback(await customer());
    const live = await stripe.callback(await customer(), 'x', { livemode: true });
    const now = Math.floor(Date.now() / 1_000);
    for (const forged of [
      { body, signature: '' },
      { body, signature: await stripe.sign(body, 'whsec_other') },
      { body: `${body} `, signature },
      { body, signature: await stripe.sign(body, stripe.webhookSecret, now - 3_600) },
      ...(await Promise.all(
        [
          'nonsense',
          'null',
          '[]',
          '{"livemode":false,"data":{"object":{}}}',
          '{"id":"evt_1","livemode":false}',
          '{"id":"evt_\\u0000","livemode":false,"data":{"object":{}}}',
          '{"id":"evt_1","livemode":false,"data":{"object":{"customer":"cus_\\u0000"}}}',
        ].map(async (body) => ({ body, signature: await stripe.sign(body) })),
      )),
      live,
    ])
      expect((await send(forged)).status).toBe(400);
    expect((await send({ body, signature })).status).toBe(204);
  });

  test('that finds Stripe away is answered 503, and carried out when it comes again', async () => {
    stripe.subscribe(await customer(), 'posthorn_growth');
    const callback = await stripe.callback(await customer());
    stripe.isDown = true;
    const refused = await send(callback);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await billing()).toMatchObject({ plan: 'starter' });
    stripe.isDown = false;
    expect((await send(callback)).status).toBe(204);
    expect(await billing()).toMatchObject({ plan: 'growth' });
    const before = stripe.requests.length;
    expect((await send(callback)).status).toBe(204);
    expect(stripe.requests).toHaveLength(before);
  });

  test('that reads late does not undo what a later one has written', async () => {
    const late = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    stripe.delay = () => {
      stripe.delay = () => {};
      begun.resolve();
      return late.promise;
    };
    const first = send(await stripe.callback(await customer()));
    await begun.promise;
    expect(await told({ status: 'canceled' })).toMatchObject({ plan: 'free' });
    late.resolve();
    expect((await first).status).toBe(204);
    expect(await billing()).toMatchObject({ plan: 'free', status: 'canceled' });
  });

  test('among a thousand that are shuffled, doubled and dropped: the end is what the subscription is', async () => {
    let seed = 7;
    const chance = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const id = await customer();
    const waiting: { body: string; signature: string }[] = [];
    let sent = 0;
    const deliver = async (callback: { body: string; signature: string }) => {
      sent++;
      expect((await send(callback)).status).toBe(204);
    };
    for (let life = 0; sent < 1_000; life++) {
      const price = chance() < 0.5 ? 'posthorn_starter' : 'posthorn_growth';
      const status =
        ['active', 'past_due', 'canceled', 'incomplete', 'trialing'][Math.floor(chance() * 5)] ?? '';
      stripe.subscribe(id, price, { status, cancel_at: chance() < 0.2 ? inAMonth() : null });
      if (chance() > 0.2) waiting.push(await stripe.callback(id, `life.${life}`));
      if (waiting.length >= 20 || chance() < 0.1) {
        const batch = waiting.splice(0).toSorted(() => chance() - 0.5);
        await Promise.all([...batch, ...batch.filter(() => chance() < 0.5)].map(deliver));
      }
    }
    // The duty finds the latest cancellation, at a time at which no larger plan is paid for any more.
    for (const [price, status, plan] of [
      ['posthorn_growth', 'active', 'growth'],
      ['posthorn_starter', 'canceled', 'free'],
      ['posthorn_starter', 'active', 'starter'],
    ] as const) {
      stripe.subscribe(id, price, { status, cancel_at: null });
      await reread(Date.now);
      expect(await billing()).toMatchObject({ plan, status });
    }
    expect(stripe.customers).toBe(1);
  });
});

test('a workspace that is deleted ends its subscription first, and waits while Stripe is away', async () => {
  const { database } = service.service;
  await database.query(
    `insert into workspaces (id, name, plan, created_at, archived_at, erase_at) values ('ws_paying', 'P', 'starter', now(), now(), now())`,
  );
  await database.query(
    `insert into billing (workspace_id, customer, status) values ('ws_paying', 'cus_p', 'active')`,
  );
  const { id } = stripe.subscribe('cus_p', 'posthorn_starter', { status: 'active', cancel_at: null });
  // Its first payment may still come.
  const begun = stripe.subscribe('cus_p', 'posthorn_starter', { status: 'incomplete', cancel_at: null });
  const deps = { database, stripe: clientOf(), log: { warn() {}, error() {} } };
  const parts = { database, logger: { info() {} } };
  const eraser = workspaceEraser(parts, new Map(), (workspaceId) => endSubscriptions(deps, workspaceId));
  const remaining = () => database.query(`select id from workspaces where id = 'ws_paying'`);
  stripe.isDown = true;
  await expect(eraser.run()).rejects.toThrow('Stripe');
  expect(await remaining()).toHaveLength(1);
  stripe.isDown = false;
  await eraser.run();
  expect(await remaining()).toEqual([]);
  for (const ended of [id, begun.id])
    expect(stripe.subscriptions.find((each) => each.id === ended)?.status).toBe('canceled');
  expect(stripe.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith(id))).not.toEqual(
    [],
  );
});
