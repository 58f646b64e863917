import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { type Client, createClient } from '../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

// A key that was found lately is not looked up before an email: the statement that accepts the email checks
// it. So no request may get what the key, or its workspace, said before a change, whichever instance made it.

const EMAIL = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'S', text: 'T' };
const LIMITS = { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '0' };

let database: TestDatabase;
let sql: postgres.Sql;
/** Sends. */
let here: Service;
/** Changes keys. */
let elsewhere: Service;
let admin: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = postgres(database.url, { max: 1 });
  const env = { ...LIMITS, DATABASE_URL: database.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' };
  here = await startService({ env });
  elsewhere = await startService({ env });
  admin = createClient(elsewhere.url, LIVE_KEY);
});
afterAll(async () => {
  await sql?.end();
  await here?.[Symbol.asyncDispose]();
  await elsewhere?.[Symbol.asyncDispose]();
  await database?.close();
});

interface KeyClient {
  readonly id: string;
  readonly key: string;
  readonly client: Client;
  send(body?: object, headers?: Record<string, string>): ReturnType<Client['post']>;
}

/** A key that has been used here, so that it is remembered. */
async function usedKey(permissions: readonly string[] = ['*'], on: Service = here): Promise<KeyClient> {
  const { status, body } = await admin.post('/v1/api-keys', { name: 'K', env: 'test', permissions });
  expect(status).toBe(201);
  const client = createClient(on.url, body.data.key);
  const send = (given: object = EMAIL, headers = {}) => client.post('/v1/emails', given, headers);
  await send();
  await send();
  return { id: body.data.id, key: body.data.key, client, send };
}

const emails = async (): Promise<number> =>
  Number((await sql<{ n: string }[]>`select count(*) as n from emails`)[0]?.n);

describe('a remembered key', () => {
  test('that was revoked elsewhere sends nothing more, whatever is asked', async () => {
    const { id, send } = await usedKey();
    const claimed = { 'idempotency-key': 'kept-from-before' };
    expect((await send(EMAIL, claimed)).status).toBe(202);
    const before = await emails();
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    const refused = await send();
    expect(refused.status).toBe(401);
    expect(refused.body.error.message).toBe('This API key is not valid, or it was revoked.');
    expect(await emails()).toBe(before);
  });

  test('that was revoked gets 401 alone: not the problems of its request, and not an earlier reply', async () => {
    for (const [what, body, headers] of [
      ['a body that is wrong', { ...EMAIL, to: 'nobody' }, {}],
      ['no JSON', [], {}],
      ['a template that is not there', { to: EMAIL.to, templateId: 'none' }, {}],
      ['a reply that is kept', EMAIL, { 'idempotency-key': 'told-before' }],
      ['another request with its key', { ...EMAIL, subject: 'Other' }, { 'idempotency-key': 'told-before' }],
    ] as const) {
      const { id, send } = await usedKey();
      await send(EMAIL, { 'idempotency-key': 'told-before' });
      expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
      expect([what, (await send(body, headers)).status]).toEqual([what, 401]);
    }
  });

  test('has the permissions that it was given last', async () => {
    const { id, send } = await usedKey(['emails:send']);
    const set = (permissions: readonly string[]) => admin.patch(`/v1/api-keys/${id}`, { permissions });
    expect((await send()).status).toBe(202);
    expect((await set(['emails:read'])).status).toBe(200);
    expect((await send()).status).toBe(403);
    // It is remembered without the permission, and must not be refused for that.
    expect((await send()).status).toBe(403);
    expect((await set(['emails:send'])).status).toBe(200);
    expect((await send()).status).toBe(202);
  });

  test('has them as well where a database repeats its revisions, as after a restore', async () => {
    const { id, send } = await usedKey(['emails:send']);
    await sql`update api_keys set context = jsonb_set(context::jsonb, '{permissions}', '["emails:read"]')::json where id = ${id}`;
    expect((await send()).status).toBe(403);
  });

  test('that was revoked is refused before a large body arrives', async () => {
    const { id, key } = await usedKey();
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    const { hostname, port } = new URL(here.url);
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, told) => resolve(told.toString()), close: () => resolve('') },
    });
    socket.write(
      `POST /v1/emails HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 65537\r\n\r\n{`,
    );
    expect((await promise).slice(0, 12)).toBe('HTTP/1.1 401');
    socket.end();
  });

  test('that was revoked writes nothing to a test clock', async () => {
    const { id, client, send } = await usedKey();
    const made = await client.post('/v1/test-clocks', { name: 'Still', startAt: '2026-12-01T09:00:00.000Z' });
    expect(made.status).toBe(201);
    const clocked = { ...EMAIL, testClockId: made.body.data.id };
    // The version of its row: that something was written, and taken back, shows there. Nothing was sent by
    // it, so nothing else writes.
    const version = async () =>
      (
        await sql<
          { version: string }[]
        >`select xmin::text as version from test_clocks where id = ${made.body.data.id}`
      )[0]?.version;
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    const before = await version();
    expect((await send(clocked)).status).toBe(401);
    expect(await version()).toBe(before as string);
  });

  test('goes by the defaults and the plan that its workspace has now', async () => {
    const { send } = await usedKey();
    const { from: _, ...nameless } = EMAIL;
    expect((await send(nameless)).status).toBe(422);
    await sql`update workspaces set default_from = 'Acme <first@acme.example>'`;
    const first = await send(nameless);
    expect(first.status).toBe(202);
    await sql`update workspaces set default_from = 'Acme <second@acme.example>'`;
    const second = await send(nameless);
    expect(second.status).toBe(202);
    const [stored] = await sql<{ sender: string }[]>`
      select sender_key as sender from emails where id = ${second.body.data.id}`;
    expect(stored?.sender).toContain('second@acme.example');
    await sql`update workspaces set default_from = null`;
    expect((await send(nameless)).status).toBe(422);
  });

  test('opens no workspace that was archived', async () => {
    const { send } = await usedKey();
    await sql`update workspaces set archived_at = now()`;
    expect((await send()).status).toBe(401);
    await sql`update workspaces set archived_at = null`;
    expect((await send()).status).toBe(202);
  });

  test('is judged email by email where many keys share a statement', async () => {
    const keys = await Promise.all(Array.from({ length: 6 }, () => usedKey()));
    const revoked = keys.filter((_, n) => n % 2 === 0);
    for (const { id } of revoked) expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    const asked = keys.flatMap((key) => Array.from({ length: 10 }, () => key));
    const told = await Promise.all(
      asked.map(async (key) => [revoked.includes(key), (await key.send()).status] as const),
    );
    expect(told.filter(([is, status]) => status !== (is ? 401 : 202))).toEqual([]);
  });

  test('sends nothing that is asked for once the revocation was answered, under load', async () => {
    const { id, send } = await usedKey();
    let isRevoked = false;
    const late: number[] = [];
    const sender = async () => {
      for (let n = 0; n < 40; n++) {
        const asked = isRevoked;
        const { status } = await send();
        if (asked) late.push(status);
        if (status === 401 && late.length > 2) return;
      }
    };
    const senders = Array.from({ length: 8 }, sender);
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    isRevoked = true;
    await Promise.all(senders);
    for (let n = 0; n < 3; n++) late.push((await send()).status);
    expect(new Set(late)).toEqual(new Set([401]));
  });
});

test('what a remembered key asks for in vain counts once against its limit', async () => {
  const env = { ...LIMITS, RATE_LIMIT_PER_KEY: '20', DATABASE_URL: database.url };
  await using limited = await startService({
    env: { ...env, SECRET_KEY: 'only-for-tests-only-for-tests-only' },
  });
  const { send } = await usedKey(['*'], limited);
  // Counted twice, some of these would be refused with 429: the two that made it known are counted too.
  const told = await Promise.all(Array.from({ length: 17 }, () => send({ ...EMAIL, to: 'nobody' })));
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 422));
});

test('the embedded database judges it as well', async () => {
  await using service = await startService({ env: LIMITS });
  const owner = createClient(service.url, LIVE_KEY);
  const { body } = await owner.post('/v1/api-keys', { name: 'K', env: 'test', permissions: ['*'] });
  const client = createClient(service.url, body.data.key);
  const send = () => client.post('/v1/emails', EMAIL);
  expect([(await send()).status, (await send()).status]).toEqual([202, 202]);
  expect((await owner.delete(`/v1/api-keys/${body.data.id}`)).status).toBe(200);
  expect((await send()).status).toBe(401);
});
