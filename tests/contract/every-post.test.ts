import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { eventually } from '../support/eventually.ts';
import { gifOf } from '../support/pictures.ts';
import type { Asking } from './ask.ts';
import { OPEN_API, type RealService, ROUTES, startRealService } from './real-service.ts';

// Every POST under /v1 takes an Idempotency-Key, and does what it is asked for once (choices, 5).

let service: RealService;
let key: string;
/** For what live keys cannot do. */
let testKey: string;
const receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') });

beforeAll(async () => {
  // On loopback alone, webhooks may lead to it.
  service = await startRealService({ HOST: '127.0.0.1' });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  await setPlan(service.service.database, row?.id ?? '', 'growth');
  key = await service.keyWith('live', ['*']);
  testKey = await service.keyWith('test', ['*']);
  domainId = (await post('/v1/domains', { name: 'sender.example' })).id;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await receiver.stop(true);
});

let made = 0;
const fresh = () => `n${++made}`;

const post = async (path: string, body?: unknown, by = key) => {
  const reply = await service.ask({ method: 'POST', path, key: by, ...(body !== undefined && { body }) });
  if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
  return reply.body.data;
};
const get = async (path: string, by = key) => (await service.ask({ path, key: by })).body.data;

const aDomain = async (): Promise<string> => (await post('/v1/domains', { name: `${fresh()}.example` })).id;
const aWebhook = async (): Promise<string> =>
  (await post('/v1/webhooks', { url: receiver.url.href, events: ['sent', 'delivered'] })).id;
let domainId: string;
/** A route with a webhook, to a new address. */
const aRoute = async () => ({
  domainId,
  match: { type: 'exact', localPart: fresh() },
  action: { type: 'webhook', url: receiver.url.href },
});
/** A message to a new test route. */
const aMessage = async () => {
  const { match } = await post('/v1/inbound-routes', await aRoute(), testKey);
  return { from: 'ada@example.com', to: `${match.localPart}@sender.example`, text: fresh() };
};
const aFlow = async (): Promise<string> =>
  (
    await post('/v1/flows', {
      name: fresh(),
      steps: [{ key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } }],
    })
  ).id;
const anEmail = () => ({
  from: 'shop@sender.example',
  to: 'ada@example.com',
  subject: fresh(),
  text: 'x',
});

const aTemplate = async (): Promise<string> =>
  (await post('/v1/templates', { name: fresh(), subject: 's', html: 'x', from: 'shop@sender.example' })).id;

/** The settings of a mailbox, for which there is room. */
const aMailbox = async () => {
  for (const { id } of (await service.ask({ path: '/v1/mailboxes?limit=100', key: testKey })).body.data)
    await service.ask({ method: 'DELETE', path: `/v1/mailboxes/${id}`, key: testKey });
  return { host: 'imap.example.com', username: `${fresh()}@example.com`, password: 'secret', paused: true };
};

/** A campaign to one new contact. */
const aCampaign = async (): Promise<string> => {
  const audience = await post('/v1/audiences', { name: fresh() });
  const contact = await post('/v1/contacts', { email: `${fresh()}@example.com` });
  await post(`/v1/audiences/${audience.id}/contacts`, { contactIds: [contact.id] });
  const said = { from: 'shop@sender.example', subject: 's', html: '<p>x</p>' };
  return (await post('/v1/campaigns', { name: fresh(), audienceId: audience.id, ...said })).id;
};
const later = () => ({ scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });

type Request = Pick<Asking, 'path' | 'body' | 'headers'>;
type Recipe = () => Promise<Request> | Request;

/**
 * By the path of the document: a request that succeeds whenever it is made, where the documented example does
 * not.
 */
const STATED: Readonly<Record<string, Recipe>> = {
  '/v1/emails': () => ({ path: '/v1/emails', body: anEmail() }),
  '/v1/emails/batch': () => ({ path: '/v1/emails/batch', body: { emails: [anEmail(), anEmail()] } }),
  '/v1/emails/raw': () => ({
    path: '/v1/emails/raw',
    body: `From: shop@sender.example\r\nTo: ada@example.com\r\nSubject: ${fresh()}\r\n\r\nHi\r\n`,
    headers: { 'content-type': 'message/rfc822' },
  }),
  '/v1/assets': () => ({
    path: `/v1/assets?filename=${fresh()}.gif`,
    body: gifOf({ width: 1, height: 1 }),
    headers: { 'content-type': 'image/gif' },
  }),
  '/v1/test-clocks/{id}/advance': async () => {
    const body = { name: fresh() };
    const told = await service.ask({ method: 'POST', path: '/v1/test-clocks', key: testKey, body });
    return {
      path: `/v1/test-clocks/${told.body.data.id}/advance`,
      body: { by: { amount: 1, unit: 'days' } },
    };
  },
  '/v1/suppressions': () => ({ path: '/v1/suppressions', body: { address: `${fresh()}@example.com` } }),
  '/v1/contacts': () => ({ path: '/v1/contacts', body: { email: `${fresh()}@example.com` } }),
  '/v1/contacts/batch': () => ({
    path: '/v1/contacts/batch',
    body: { contacts: [{ email: `${fresh()}@example.com` }, { email: 'no address' }] },
  }),
  '/v1/contacts/{contact}/events': async () => {
    const { id } = await post('/v1/contacts', { email: `${fresh()}@example.com` });
    return { path: `/v1/contacts/${id}/events`, body: { name: 'order.placed' } };
  },
  '/v1/contacts/import': () => ({
    path: '/v1/contacts/import',
    body: `email\n${fresh()}@example.com\n`,
    headers: { 'content-type': 'text/csv' },
  }),
  '/v1/contacts/import/plan': () => ({
    path: '/v1/contacts/import/plan',
    body: `email\n${fresh()}@example.com\n`,
    headers: { 'content-type': 'text/csv' },
  }),
  '/v1/contacts/imports/{id}/cancel': async () => {
    // Long enough not to be over before it is cancelled.
    const { content } = contactFile(20_000);
    const headers = { 'content-type': 'text/csv' };
    const path = `/v1/contacts/import?columns=${CONTACT_COLUMNS}`;
    const told = await service.ask({ method: 'POST', path, key, body: content, headers });
    return { path: `/v1/contacts/imports/${told.body.data.id}/cancel` };
  },
  '/v1/suppressions/import': () => ({
    path: '/v1/suppressions/import',
    body: `address\n${fresh()}@example.com\n`,
    headers: { 'content-type': 'text/csv' },
  }),
  '/v1/audiences/{id}/contacts': async () => {
    const { id } = await post('/v1/audiences', { name: fresh() });
    await post('/v1/contacts', { email: `${fresh()}@example.com` });
    const emails = [`n${made}@example.com`, 'nobody@example.com'];
    return { path: `/v1/audiences/${id}/contacts`, body: { emails } };
  },
  '/v1/campaigns': async () => {
    const { id } = await post('/v1/audiences', { name: fresh() });
    return { path: '/v1/campaigns', body: { name: fresh(), audienceId: id } };
  },
  '/v1/campaigns/{id}/duplicate': async () => ({ path: `/v1/campaigns/${await aCampaign()}/duplicate` }),
  '/v1/campaigns/{id}/send': async () => ({
    path: `/v1/campaigns/${await aCampaign()}/send`,
    body: later(),
  }),
  '/v1/campaigns/{id}/pause': async () => {
    const id = await aCampaign();
    const two = await post('/v1/contacts', { email: `${fresh()}@example.com` });
    const { audienceId } = await get(`/v1/campaigns/${id}`);
    await post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [two.id] });
    await service.ask({ method: 'PATCH', path: `/v1/campaigns/${id}`, key, body: { ratePerHour: 1 } });
    await post(`/v1/campaigns/${id}/send`, {});
    await eventually(
      'it is sent',
      async () => (await get(`/v1/campaigns/${id}`)).status === 'sending' || undefined,
    );
    return { path: `/v1/campaigns/${id}/pause` };
  },
  '/v1/campaigns/{id}/unschedule': async () => {
    const id = await aCampaign();
    await post(`/v1/campaigns/${id}/send`, later());
    return { path: `/v1/campaigns/${id}/unschedule` };
  },
  '/v1/campaigns/{id}/cancel': async () => ({ path: `/v1/campaigns/${await aCampaign()}/cancel` }),
  '/v1/campaigns/{id}/test-send': async () => ({
    path: `/v1/campaigns/${await aCampaign()}/test-send`,
    body: { to: ['me@sender.example'] },
  }),
  '/v1/flows': () => ({ path: '/v1/flows', body: { name: fresh() } }),
  '/v1/flows/{id}/validate': async () => ({ path: `/v1/flows/${await aFlow()}/validate` }),
  '/v1/flows/{id}/simulate': async () => ({
    path: `/v1/flows/${await aFlow()}/simulate`,
    body: { contact: { email: 'ada@example.com' } },
  }),
  '/v1/flows/{id}/activate': async () => ({ path: `/v1/flows/${await aFlow()}/activate` }),
  '/v1/flows/{id}/pause': async () => {
    const id = await aFlow();
    await post(`/v1/flows/${id}/activate`);
    return { path: `/v1/flows/${id}/pause`, body: { runs: 'hold' } };
  },
  '/v1/flows/{id}/runs': async () => {
    const id = await aFlow();
    await post(`/v1/flows/${id}/activate`);
    const contact = await post('/v1/contacts', { email: `${fresh()}@example.com` });
    return { path: `/v1/flows/${id}/runs`, body: { contactId: contact.id } };
  },
  '/v1/flows/webhook-secret': () => ({ path: '/v1/flows/webhook-secret' }),
  '/v1/api-keys': () => ({
    path: '/v1/api-keys',
    body: { name: fresh(), env: 'test', permissions: ['emails:read'] },
  }),
  '/v1/domains': () => ({ path: '/v1/domains', body: { name: `${fresh()}.example` } }),
  '/v1/domains/{id}/verify': async () => ({ path: `/v1/domains/${await aDomain()}/verify` }),
  '/v1/domains/{id}/rotate-dkim': async () => ({ path: `/v1/domains/${await aDomain()}/rotate-dkim` }),
  '/v1/mailboxes': async () => ({ path: '/v1/mailboxes', body: await aMailbox() }),
  '/v1/inbound-routes': async () => ({ path: '/v1/inbound-routes', body: await aRoute() }),
  '/v1/received/test': async () => ({ path: '/v1/received/test', body: await aMessage() }),
  '/v1/received/{id}/reply': async () => {
    const { id } = await post('/v1/received/test', await aMessage(), testKey);
    return { path: `/v1/received/${id}/reply`, body: { from: 'support@acme.example', text: 'Gladly' } };
  },
  '/v1/received/{id}/redeliver': async () => {
    const { id } = await post('/v1/received/test', await aMessage(), testKey);
    await eventually(
      'its post',
      async () => (await get(`/v1/received/${id}`, testKey)).status === 'posted' || undefined,
    );
    return { path: `/v1/received/${id}/redeliver` };
  },
  '/v1/templates': () => ({
    path: '/v1/templates',
    body: { name: fresh(), alias: fresh(), html: 'Hi {{ name }}' },
  }),
  '/v1/templates/render-preview': () => ({
    path: '/v1/templates/render-preview',
    body: { subject: 's', html: `Hi {{ name }} ${'😀'.repeat(10_000)}`, variables: { name: fresh() } },
  }),
  '/v1/templates/{id}/publish': async () => ({
    path: `/v1/templates/${await aTemplate()}/publish`,
    body: { version: 1 },
  }),
  '/v1/templates/{id}/update-users': async () => ({
    path: `/v1/templates/${await aTemplate()}/update-users`,
    body: {},
  }),
  '/v1/templates/{id}/restore': async () => ({
    path: `/v1/templates/${await aTemplate()}/restore`,
    body: { version: 1 },
  }),
  '/v1/templates/{id}/test-send': async () => ({
    path: `/v1/templates/${await aTemplate()}/test-send`,
    body: { to: ['me@sender.example'] },
  }),
  '/v1/webhooks': () => ({ path: '/v1/webhooks', body: { url: receiver.url.href, events: ['bounced'] } }),
  '/v1/webhooks/{id}/rotate-secret': async () => ({ path: `/v1/webhooks/${await aWebhook()}/rotate-secret` }),
  '/v1/members/invitations': () => ({
    path: '/v1/members/invitations',
    body: { email: `${fresh()}@example.com`, role: 'viewer' },
  }),
  '/v1/webhooks/{id}/test': async () => ({ path: `/v1/webhooks/${await aWebhook()}/test` }),
  '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': async () => {
    const id = await aWebhook();
    await post(`/v1/webhooks/${id}/test`);
    const delivery = await eventually('the delivery', async () => {
      const [first] = await get(`/v1/webhooks/${id}/deliveries`);
      return first?.status === 'success' ? first.id : undefined;
    });
    return { path: `/v1/webhooks/${id}/deliveries/${delivery}/redeliver` };
  },
  '/v1/webhooks/{id}/replay': async () => {
    const { id } = await post('/v1/emails', anEmail());
    await eventually(
      'its end',
      async () => (await get(`/v1/emails/${id}`)).status === 'delivered' || undefined,
    );
    const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    return { path: `/v1/webhooks/${await aWebhook()}/replay`, body: { from, to } };
  },
};

/** POSTs that are repeated elsewhere, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  '/v1/billing/checkout': 'needs Stripe: billing.test.ts repeats it',
  '/v1/billing/portal': 'needs Stripe: billing.test.ts repeats the checkout, which is made the same way',
};

/** A collection without a recipe takes the documented example of its POST, again and again. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  ...Object.fromEntries(
    ROUTES.filter(
      ({ method, path, params, mediaTypes, example }) =>
        method === 'POST' &&
        path.startsWith('/v1/') &&
        !params &&
        !mediaTypes &&
        example?.body &&
        !(path in WITHOUT),
    ).map(({ path, example }): [string, Recipe] => [path, () => ({ path, body: example?.body })]),
  ),
  ...STATED,
};

const PATHS = Object.entries(OPEN_API.paths).flatMap(([path, methods]) =>
  path.startsWith('/v1/') && 'post' in methods ? [path] : [],
);

test('every POST operation is covered here or says why not', () => {
  const known = [...Object.keys(RECIPES), ...Object.keys(WITHOUT)];
  expect(known.toSorted()).toEqual(PATHS.toSorted());
});

describe.each(Object.entries(RECIPES))('POST %s', (path, recipe) => {
  const asking = async (idempotencyKey: string, from: Recipe = recipe): Promise<Asking> => {
    const { headers, ...request } = await from();
    const by = path.startsWith('/v1/test-clocks') || path.startsWith('/v1/received') ? testKey : key;
    return {
      method: 'POST',
      key: by,
      ...request,
      headers: { 'idempotency-key': idempotencyKey, ...headers },
    };
  };
  const replayed = (told: { readonly headers: Headers }) => told.headers.get('idempotency-replayed');

  test('replays the first answer to a repetition, marked as a replay', async () => {
    const request = await asking(crypto.randomUUID());
    const first = await service.ask(request);
    expect([first.status < 300, replayed(first)]).toEqual([true, null]);
    const second = await service.ask(request);
    expect([second.status, replayed(second)]).toEqual([first.status, 'true']);
    expect(second.text).toBe(first.text);
  });

  test('refuses an Idempotency-Key that another request has used', async () => {
    const other = RECIPES[path === '/v1/api-keys' ? '/v1/suppressions' : '/v1/api-keys'] as Recipe;
    for (const [before, after] of [
      [recipe, other],
      [other, recipe],
    ] as const) {
      const name = crypto.randomUUID();
      expect((await service.ask(await asking(name, before))).status).toBeLessThan(300);
      const reply = await service.ask(await asking(name, after));
      expect([reply.status, reply.body.error?.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    }
  });
});

test('a run that was started answers for its key, though the service died before it stored the answer', async () => {
  const request = await (RECIPES['/v1/flows/{id}/runs'] as Recipe)();
  const name = crypto.randomUUID();
  const asking = { method: 'POST', key, ...request, headers: { 'idempotency-key': name } };
  const first = await service.ask(asking);
  expect(first.status).toBe(201);
  const forgetReply = () =>
    service.service.database.query('delete from idempotency_keys where key = $1 returning key', [name]);
  expect(await forgetReply()).toHaveLength(1);
  const again = await service.ask(asking);
  expect([again.status, again.body.data?.id]).toEqual([201, first.body.data.id]);
  expect(await forgetReply()).toHaveLength(1);
  // A run of the day before is another occurrence.
  const yesterday = mintId('run', Date.now() - 25 * 3_600_000);
  await service.service.database.query('update flow_runs set id = $2 where id = $1 returning id', [
    first.body.data.id,
    yesterday,
  ]);
  expect((await service.ask(asking)).status).toBe(409);
  const another = { ...asking, headers: { 'idempotency-key': crypto.randomUUID() } };
  const refused = await service.ask(another);
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'CONFLICT']);
});
