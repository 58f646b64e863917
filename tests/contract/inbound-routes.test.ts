import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MOST_ROUTES } from '../../src/sending/inbound-routes/model.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;
let domainId: string;

beforeAll(async () => {
  service = await startRealService({
    HOST: '127.0.0.1',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    EHLO_NAME: 'mail.posthorn.example',
    PUBLIC_URL: 'https://post.example.com',
  });
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
  domainId = (await send('POST', '/v1/domains', { name: 'acme.example' })).body.data.id;
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: unknown, key = live) =>
  service.ask({ method, path, key, ...(body !== undefined && { body }) });
const create = (more: object = {}, key = live) =>
  send(
    'POST',
    '/v1/inbound-routes',
    { domainId, match: { type: 'catchAll' }, action: { type: 'keep' }, ...more },
    key,
  );
const hook = { type: 'webhook', url: 'http://127.0.0.1:9/in' };

test('a route is created with every member, shown without its secret, changed and deleted', async () => {
  const made = await create({ match: { type: 'exact', localPart: 'Support' }, action: hook, priority: 7 });
  expect(made.status).toBe(201);
  const { secret, ...route } = made.body.data;
  expect(route).toEqual({
    id: expect.stringMatching(/^inr_[0-9a-z]{24}$/),
    livemode: true,
    domainId,
    match: { type: 'exact', localPart: 'support' },
    priority: 7,
    action: { ...hook, to: null },
    spam: 'mark',
    secretPrefix: `${secret.slice(0, 10)}…`,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: route.createdAt,
  });
  expect((await send('GET', `/v1/inbound-routes/${route.id}`)).body.data).toEqual(route);
  expect((await send('GET', `/v1/inbound-routes?domainId=${domainId}`)).body.data).toEqual([route]);
  const changed = await send('PATCH', `/v1/inbound-routes/${route.id}`, { match: { type: 'catchAll' } });
  expect(changed.body.data).toEqual({
    ...route,
    match: { type: 'catchAll', localPart: null },
    updatedAt: changed.body.data.updatedAt,
    secret: null,
  });
  const stale = { priority: 1, ifUpdatedAt: route.updatedAt };
  expect((await send('PATCH', `/v1/inbound-routes/${route.id}`, stale)).status).toBe(409);
  const kept = await send('PATCH', `/v1/inbound-routes/${route.id}`, { action: { type: 'keep' } });
  expect(kept.body.data).toMatchObject({ action: { type: 'keep', url: null }, secretPrefix: null });
  expect((await send('DELETE', `/v1/inbound-routes/${route.id}`)).status).toBe(204);
  expect((await send('GET', `/v1/inbound-routes/${route.id}`)).status).toBe(404);
  expect((await send('DELETE', `/v1/inbound-routes/${route.id}`)).status).toBe(404);
});

describe('a body that cannot be a route names each mistake', () => {
  test.each([
    [{ match: { type: 'exact' } }, ['/body/match/localPart']],
    [{ match: { type: 'prefix' } }, ['/body/match/localPart']],
    [{ match: { type: 'catchAll', localPart: 'a' } }, ['/body/match/localPart']],
    [{ match: { type: 'exact', localPart: 'a+b' } }, ['/body/match/localPart']],
    [{ match: { type: 'exact', localPart: 'a@b' } }, ['/body/match/localPart']],
    [{ match: { type: 'exact', localPart: 'a b' } }, ['/body/match/localPart']],
    [{ match: { type: 'exact', localPart: 'ü'.repeat(33) } }, ['/body/match/localPart']],
    [{ match: { type: 'suffix' } }, ['/body/match/type']],
    [{ action: { type: 'webhook' } }, ['/body/action/url']],
    [{ action: { type: 'keep', url: 'http://127.0.0.1:9/' } }, ['/body/action/url']],
    [{ action: { type: 'webhook', url: 'ftp://acme.example/' } }, ['/body/action/url']],
    [{ action: { type: 'webhook', url: 'http://169.254.169.254/' } }, ['/body/action/url']],
    [{ action: { type: 'forward', to: ['a@b.example'] } }, ['/body/action/to/0']],
    [{ priority: -1 }, ['/body/priority']],
    [{ priority: 10_001 }, ['/body/priority']],
    [{ spam: 'delete' }, ['/body/spam']],
    [{ spam: 'refuse' }, ['/body/spam']],
  ])('%j', async (more, paths) => {
    const reply = await create(more);
    expect(reply.status).toBe(422);
    expect(pathsOf(reply).toSorted()).toEqual(paths.toSorted());
  });

  test('64 octets before the @ and the highest priority are taken', async () => {
    const made = await create({ match: { type: 'prefix', localPart: 'ü'.repeat(32) }, priority: 10_000 });
    expect(made.status).toBe(201);
    await send('DELETE', `/v1/inbound-routes/${made.body.data.id}`);
  });
});

test('a domain that the workspace does not have is missing', async () => {
  expect((await create({ domainId: 'dom_00000000000000000000none' })).status).toBe(404);
});

test('the domain shows the MX that receives as long as it has a live route', async () => {
  const recordsOf = async () => {
    const { data } = (await send('GET', `/v1/domains/${domainId}`)).body;
    return data.dnsRecords
      .filter(
        ({ purpose, name }: { purpose: string; name: string }) => purpose === 'mx' && name === 'acme.example',
      )
      .map(({ value, required, priority }: Record<string, unknown>) => [value, required, priority]);
  };
  expect(await recordsOf()).toEqual([]);
  await create({}, inTest);
  expect(await recordsOf()).toEqual([]);
  const { id } = (await create()).body.data;
  expect(await recordsOf()).toEqual([['mail.posthorn.example', true, 10]]);
  // Its absence holds no mail back.
  await send('POST', `/v1/domains/${domainId}/verify`);
  expect((await send('GET', `/v1/domains/${domainId}`)).body.data.status).toBe('verified');
  await send('DELETE', `/v1/inbound-routes/${id}`);
  expect(await recordsOf()).toEqual([]);
});

test(`an environment has at most ${MOST_ROUTES} routes, also where requests come at once`, async () => {
  const replies = await Promise.all(Array.from({ length: MOST_ROUTES + 5 }, () => create()));
  const statuses = Map.groupBy(replies, ({ status }) => status);
  const others = replies.filter(({ status }) => status !== 201 && status !== 429);
  expect([statuses.get(201)?.length, statuses.get(429)?.length, others]).toEqual([MOST_ROUTES, 5, []]);
  expect(statuses.get(429)?.[0]?.body.error.code).toBe('QUOTA_EXCEEDED');
  expect((await create({}, inTest)).status).toBe(201);
});

test('routes need the permissions of domains, and their changes are in the audit log', async () => {
  const reader = await service.keyWith('live', ['domains:read']);
  expect((await create({}, reader)).status).toBe(403);
  expect((await send('GET', '/v1/inbound-routes', undefined, reader)).status).toBe(200);
  const mailer = await service.keyWith('live', ['emails:read']);
  expect((await send('GET', '/v1/inbound-routes', undefined, mailer)).status).toBe(403);
  for (const action of ['created', 'changed', 'deleted']) {
    const acts = await send('GET', `/v1/audit-log?action=inboundRoute.${action}`);
    expect(acts.body.data.length).toBeGreaterThan(0);
    expect(acts.text).not.toContain('whsec_');
  }
});
