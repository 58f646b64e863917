import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashOfKey } from '../../src/http/auth/api-key.ts';
import type { Permission } from '../../src/http/auth/permissions.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;

beforeAll(async () => {
  service = await startRealService();
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const create = (body: object, key = live) => service.ask({ method: 'POST', path: '/v1/api-keys', key, body });
const created = async (permissions: readonly string[], key = live, env = 'live') =>
  (await create({ name: 'a', env, permissions }, key)).body.data as {
    id: string;
    key: string;
    prefix: string;
  };
const patch = (id: string, permissions: unknown, key = live) =>
  service.ask({ method: 'PATCH', path: `/v1/api-keys/${id}`, key, body: { permissions } });
const revoke = (id: string, key = live) => service.ask({ method: 'DELETE', path: `/v1/api-keys/${id}`, key });
const list = async (key: string) =>
  (await service.ask({ path: '/v1/api-keys', key })).body.data as { id: string }[];

describe('POST /v1/api-keys', () => {
  test('answers the API key once; no later reply shows it again', async () => {
    const { body, status } = await create({ name: 'Checkout', env: 'live', permissions: ['emails:send'] });
    expect(status).toBe(201);
    expect(Object.keys(body.data).sort()).toEqual([
      'createdAt',
      'env',
      'id',
      'key',
      'lastUsedAt',
      'name',
      'permissions',
      'prefix',
      'revokedAt',
    ]);
    expect(body.data.key).toMatch(/^svc_live_[A-Za-z0-9]{32}$/);
    expect(body.data.prefix).toBe(`svc_…${body.data.key.slice(-4)}`);
    expect(body.data).toMatchObject({ lastUsedAt: null, revokedAt: null });
    const listed = JSON.stringify(await list(live));
    expect(listed).toContain(body.data.id);
    expect(listed).not.toContain(body.data.key);
  });

  test('stores the permission `*` alone', async () => {
    const { body } = await create({ name: 'a', env: 'test', permissions: ['emails:read', '*'] });
    expect(body.data.permissions).toEqual(['*']);
  });

  test.each<[string, object, string]>([
    ['no permissions', { name: 'a', env: 'live' }, '/body/permissions'],
    ['none of them', { name: 'a', env: 'live', permissions: [] }, '/body/permissions'],
    ['an unknown one', { name: 'a', env: 'live', permissions: ['emails:write'] }, '/body/permissions/0'],
    [
      'one twice',
      { name: 'a', env: 'live', permissions: ['emails:read', 'emails:read'] },
      '/body/permissions',
    ],
    ['another environment', { name: 'a', env: 'prod', permissions: ['*'] }, '/body/env'],
    ['no name', { env: 'live', permissions: ['*'] }, '/body/name'],
    ['an empty name', { name: '', env: 'live', permissions: ['*'] }, '/body/name'],
    ['a member too many', { name: 'a', env: 'live', permissions: ['*'], key: 'mine' }, '/body/key'],
  ])('%s: 422', async (_, body, path) => expect(pathsOf(await create(body))).toEqual([path]));

  test('refuses to create a live key with a test key', async () => {
    const reply = await create({ name: 'a', env: 'live', permissions: ['emails:read'] }, inTest);
    expect([reply.status, reply.body.error.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('refuses permissions that the creating key lacks, `*` included', async () => {
    const { key } = await created(['api-keys:write', 'emails:read']);
    const grant = (permissions: readonly Permission[]) =>
      create({ name: 'a', env: 'live', permissions }, key);
    expect((await grant(['emails:read'])).status).toBe(201);
    const refused = await grant(['emails:read', 'emails:send']);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toContain('emails:send');
    expect((await grant(['*'])).status).toBe(403);
  });
});

describe('PATCH /v1/api-keys/{id}', () => {
  test('replaces the whole set of permissions, from the next request on', async () => {
    const { id, key } = await created(['emails:send', 'emails:read']);
    expect((await service.ask({ path: '/v1/emails', key })).status).toBe(200);
    expect((await patch(id, ['emails:send'])).body.data.permissions).toEqual(['emails:send']);
    expect((await service.ask({ path: '/v1/emails', key })).status).toBe(403);
    await patch(id, ['emails:read']);
    expect((await service.ask({ path: '/v1/emails', key })).status).toBe(200);
  });

  test.each<[string, unknown, string]>([
    ['an unknown one', ['nonsense'], '/body/permissions/0'],
    ['an empty list', [], '/body/permissions'],
    ['no list', 'emails:read', '/body/permissions'],
  ])('%s: 422', async (_, permissions, path) => {
    const { id } = await created(['emails:read']);
    expect(pathsOf(await patch(id, permissions))).toEqual([path]);
  });

  test('lets no key take api-keys:write from itself, though from another', async () => {
    const own = await created(['api-keys:write', 'emails:read']);
    const other = await created(['api-keys:write', 'emails:read']);
    expect(pathsOf(await patch(own.id, ['emails:read'], own.key))).toEqual(['/body/permissions']);
    expect((await patch(other.id, ['emails:read'], own.key)).status).toBe(200);
  });

  test('refuses permissions that the changing key lacks', async () => {
    const weak = await created(['api-keys:write']);
    const { id } = await created(['emails:read']);
    expect((await patch(id, ['emails:send'], weak.key)).status).toBe(403);
  });

  test('changes a key that may do everything for its like alone, so that no other can revoke it then', async () => {
    const { id, key } = await created(['*']);
    const lesser = (await created(['api-keys:write', 'emails:read'])).key;
    const { status, body } = await patch(id, ['api-keys:write'], lesser);
    expect([status, body.error?.code]).toEqual([403, 'FORBIDDEN']);
    expect((await revoke(id, lesser)).status).toBe(403);
    expect((await service.ask({ path: '/v1/contacts', key })).status).toBe(200);
    expect((await patch(id, ['emails:read'])).status).toBe(200);
    expect((await patch(id, ['emails:read', 'api-keys:write'], lesser)).status).toBe(200);
  });

  test('answers 409 for a revoked key and leaves it unchanged', async () => {
    const { id } = await created(['emails:read']);
    await revoke(id);
    const reply = await patch(id, ['emails:send']);
    expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('DELETE /v1/api-keys/{id}', () => {
  test('revokes the key at once; revoking it again is no error', async () => {
    const { id, key } = await created(['emails:read']);
    expect((await service.ask({ path: '/v1/emails', key })).status).toBe(200);
    const reply = await revoke(id);
    expect([reply.status, reply.body]).toEqual([200, { data: { id } }]);
    expect((await service.ask({ path: '/v1/emails', key })).body.error.code).toBe('UNAUTHORIZED');
    expect((await revoke(id)).status).toBe(200);
  });

  test('a key that may do everything is revoked by its like alone', async () => {
    const [great, small] = [await created(['*']), await created(['api-keys:write', 'emails:send'])];
    const other = await created(['emails:read']);
    const { status, body } = await revoke(great.id, small.key);
    expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(body.error.message).toContain('*');
    expect((await service.ask({ path: '/v1/workspace', key: great.key })).status).toBe(200);
    expect((await revoke(other.id, small.key)).status).toBe(200);
    expect((await revoke(great.id)).status).toBe(200);
    expect((await revoke(great.id, small.key)).status).toBe(200);
  });

  test('keeps a revoked key in the list, with the time of its revocation', async () => {
    const { id } = await created(['emails:read']);
    await revoke(id);
    const entry = (await list(live)).find((each) => each.id === id);
    expect(entry).toMatchObject({ revokedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  });
});

test('GET /v1/api-keys lists keys without pages', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 101; n++) ids.push((await created(['emails:read'], live, 'test')).id);
  const { body, status } = await service.ask({ path: '/v1/api-keys', key: live });
  expect([status, Object.keys(body)]).toEqual([200, ['data']]);
  const listed = (body.data as { id: string }[]).map(({ id }) => id);
  expect(listed).toEqual(listed.toSorted().reverse());
  for (const id of ids) expect(listed).toContain(id);
});

test('an environment has 1,000 active keys at most, and the list shows as many revoked ones', async () => {
  const permissions = ['emails:read', 'api-keys:write', 'api-keys:read'];
  const owner = await service.keyWith('test', ['*']);
  const { database } = service.service;
  const others = `select count(*)::integer as count from api_keys
    where workspace_id = $1 and not livemode and state = 'active'`;
  const [present] = await database.query<{ count: number }>(others, [service.workspaceId]);
  const copy = (state: string, count: number, letter: string) =>
    database.query(
      `insert into api_keys select (jsonb_populate_record(k, jsonb_build_object('id', 'key_0000000000' || $1 || lpad(n::text, 13, '0'),
        'hash', md5($1 || n), 'state', $2::text))).*
      from api_keys k cross join generate_series(1, $3::integer) n where k.hash = $4`,
      [letter, state, count, hashOfKey(owner)],
    );
  await copy('revoked', 1_100, 'a');
  await copy('active', 999 - (present?.count ?? 0), 'b');
  const create = (env: string) => ({
    method: 'POST',
    path: '/v1/api-keys',
    key: live,
    body: { name: 'One more', env, permissions },
  });
  const atOnce = await Promise.all(Array.from({ length: 4 }, () => service.ask(create('test'))));
  expect(atOnce.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  expect(atOnce.find(({ status }) => status === 409)?.body.error).toMatchObject({
    code: 'CONFLICT',
    message: 'This environment has 1,000 active API keys, the maximum.',
  });
  expect((await service.ask(create('live'))).status).toBe(201);
  expect(await list(inTest)).toHaveLength(2_000);
  const made = atOnce.find(({ status }) => status === 201)?.body.data.id;
  const again = { ...create('test'), headers: { 'idempotency-key': 'the-last' } };
  expect((await revoke(made)).status).toBe(200);
  const last = await service.ask(again);
  // A request that is repeated has its key, also where there is no room for another one.
  const repeated = await service.ask(again);
  expect([last.status, repeated.status, repeated.body]).toEqual([201, 201, last.body]);
  await database.query(`delete from api_keys where id like 'key\\_0000000000%'`, []);
});

describe('API keys across environments', () => {
  test('hides live keys from test keys', async () => {
    const { id } = await created(['emails:read']);
    expect((await list(inTest)).map((each) => each.id)).not.toContain(id);
    expect((await patch(id, ['emails:send'], inTest)).status).toBe(404);
    expect((await revoke(id, inTest)).status).toBe(404);
  });
});

describe('POST /v1/api-keys with an Idempotency-Key', () => {
  test('makes one API key of 100 parallel creations, and shows it in every reply', async () => {
    const name = `parallel ${crypto.randomUUID()}`;
    const asking = {
      method: 'POST',
      path: '/v1/api-keys',
      key: live,
      body: { name, env: 'test', permissions: ['emails:read'] },
      headers: { 'idempotency-key': crypto.randomUUID() },
    };
    const told = await Promise.all(Array.from({ length: 100 }, () => service.ask(asking)));
    told.push(await service.ask(asking));
    const replies = told.filter(({ status }) => status === 201);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    for (const { status, body } of told) {
      if (status !== 201) expect(body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    }
    expect((await list(live)).filter((each) => (each as { name?: string }).name === name)).toHaveLength(1);
  });

  test('stores the reply without the API key in clear text', async () => {
    const { body } = await service.ask({
      method: 'POST',
      path: '/v1/api-keys',
      key: live,
      body: { name: 'sealed', env: 'test', permissions: ['emails:read'] },
      headers: { 'idempotency-key': crypto.randomUUID() },
    });
    const rows = await service.service.database.query<{ found: number }>(
      'select count(*)::int as found from idempotency_keys where reply like $1',
      [`%${body.data.key}%`],
    );
    expect(rows).toEqual([{ found: 0 }]);
  });

  test('leaves the Idempotency-Key free after a refusal', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const asking = { method: 'POST', path: '/v1/api-keys', key: inTest, headers };
    expect(
      (await service.ask({ ...asking, body: { name: 'a', env: 'live', permissions: ['*'] } })).status,
    ).toBe(403);
    expect(
      (await service.ask({ ...asking, body: { name: 'a', env: 'test', permissions: ['*'] } })).status,
    ).toBe(201);
  });

  test('replays no API key to a caller with fewer permissions than it has by now', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const lesser = (await created(['api-keys:write', 'emails:read'])).key;
    const body = { name: 'a', env: 'live', permissions: ['emails:read'] };
    const asking = { method: 'POST', path: '/v1/api-keys', headers, body };
    const made = await service.ask({ ...asking, key: live });
    const again = await service.ask({ ...asking, key: lesser });
    expect([again.status, again.body.data?.key]).toEqual([201, made.body.data.key]);
    await patch(made.body.data.id, ['*']);
    const refused = await service.ask({ ...asking, key: lesser });
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.text).not.toContain(made.body.data.key);
    expect((await service.ask({ ...asking, key: live })).headers.get('idempotency-replayed')).toBe('true');
  });

  test('answers a different request under the same Idempotency-Key with a conflict that reveals nothing', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const body = { name: 'a', env: 'test', permissions: ['emails:read'] };
    const asking = { method: 'POST', key: inTest, headers };
    const made = await service.ask({ ...asking, path: '/v1/api-keys', body });
    expect(made.status).toBe(201);
    const email = { from: 'a@b.example', to: 'c@d.example', subject: 'x', text: 'x' };
    for (const [path, other] of [
      ['/v1/emails', email],
      ['/v1/domains', { name: 'sealed.example' }],
      ['/v1/api-keys', { ...body, name: 'b' }],
    ] as const) {
      const reply = await service.ask({ ...asking, path, body: other });
      expect([path, reply.status, reply.body.error.code]).toEqual([path, 409, 'IDEMPOTENCY_CONFLICT']);
      expect(reply.text).not.toContain(made.body.data.key);
    }
  });

  test('keeps Idempotency-Keys apart between environments', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const asking = { method: 'POST', path: '/v1/api-keys', headers };
    const body = { name: 'a', env: 'test', permissions: ['emails:read'] };
    const [one, other] = [
      await service.ask({ ...asking, key: live, body }),
      await service.ask({ ...asking, key: inTest, body }),
    ];
    expect(other.headers.has('idempotency-replayed')).toBe(false);
    expect(other.body.data.id).not.toBe(one.body.data.id);
  });
});

test('no API key is ever written to the log', () => {
  expect(service.logged()).not.toMatch(/svc_(live|test)_\w{32}/);
});
