import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { mintId } from '../../src/platform/db/ids.ts';
import type { ActorPage, Machine, Session } from '../../src/web/live/model.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { printed, type Service, startService, TEST_KEY } from '../support/service.ts';
import { FROM_OWN_PAGE, openViewer, sessionCookie } from './inspector-viewer.ts';

const ALL = [
  'apiKey',
  'campaign',
  'contactImport',
  'domain',
  'email',
  'flowRun',
  'received',
  'webhookDelivery',
  'webhookEndpoint',
];

let database: TestDatabase;
let service: Service;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 's'.repeat(32),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
    },
  });
  client = createClient(service.url, TEST_KEY);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await database.close();
});

async function keyWith(...permissions: string[]): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await client.post('/v1/api-keys', { name: 'Reader', env: 'test', permissions });
  expect(status).toBe(201);
  return body.data;
}

async function send(): Promise<string> {
  const { status, body } = await client.post('/v1/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Hello',
    text: 'x',
  });
  expect(status).toBe(202);
  return body.data.id;
}

async function endpoint(): Promise<string> {
  const { status, body } = await client.post('/v1/webhooks', {
    url: 'https://example.com/hook',
    events: ['bounced'],
  });
  expect(status).toBe(201);
  return body.data.id;
}

const asking = (cookie: string) => async (path: string) => {
  const response = await fetch(`${service.url}/inspector/api/${path}`, { headers: { cookie } });
  return { status: response.status, text: await response.text() };
};
const kindsOf = async (get: <T>(path: string) => Promise<T>) =>
  (await get<readonly Machine[]>('machines')).map(({ kind }) => kind).sort();

describe('the live view hides what the API key does not permit', () => {
  test('kinds, lists, actors, counts and movements', async () => {
    const reader = await keyWith('emails:read');
    using all = await openViewer(service.url, TEST_KEY);
    using viewer = await openViewer(service.url, reader.key);
    expect(await kindsOf(viewer.get)).toEqual(['email', 'received']);
    expect(await kindsOf(all.get)).toEqual(ALL);

    const [made, hook] = [await keyWith('emails:send'), await endpoint()];
    const ask = asking(viewer.cookie);
    for (const kind of ALL.filter((name) => name !== 'email' && name !== 'received'))
      expect(await ask(`actors?kind=${kind}`)).toMatchObject({ status: 404 });
    const missing = (await ask('actors/key_000000000000000000000000')).status;
    for (const id of [made.id, hook]) {
      expect(await asking(all.cookie)(`actors/${id}`)).toMatchObject({ status: 200 });
      expect(await ask(`actors/${id}`)).toMatchObject({ status: missing });
    }

    const email = await send();
    for (const one of [all, viewer])
      await eventually('the movement', async () =>
        one.ticks.flatMap(({ sample }) => sample).find(({ id, to }) => id === email && to === 'delivered'),
      );
    const told = (ticks: typeof all.ticks) => [
      ...new Set(ticks.flatMap(({ moves, sample }) => [...moves, ...sample].map(({ kind }) => kind))),
    ];
    expect(told(all.ticks)).toContain('apiKey');
    expect(told(viewer.ticks)).toEqual(['email']);
    expect(Object.keys(all.counts()).sort()).toEqual(ALL);
    for (const { counts } of viewer.ticks)
      expect(Object.keys(counts ?? { email: {}, received: {} }).sort()).toEqual(['email', 'received']);
  });

  test('each permission shows its own kinds; a change of the key counts at the next request', async () => {
    const { id, key } = await keyWith('emails:read', 'webhooks:read');
    const cookie = (await sessionCookie(service.url, { key })) ?? '';
    const kinds = async () => {
      const { text } = await asking(cookie)('machines');
      return (JSON.parse(text) as { data: Machine[] }).data.map(({ kind }) => kind).sort();
    };
    expect(await kinds()).toEqual(['email', 'received', 'webhookDelivery', 'webhookEndpoint']);
    const permissions = ['emails:read', 'api-keys:read', 'domains:read'];
    expect((await client.patch(`/v1/api-keys/${id}`, { permissions })).status).toBe(200);
    expect(await kinds()).toEqual(['apiKey', 'domain', 'email', 'received']);
  });

  test('a key without the permission learns which one it lacks, where it opens a connection itself', async () => {
    const { key } = await keyWith('contacts:read');
    const handshake = {
      connection: 'upgrade',
      upgrade: 'websocket',
      authorization: `Bearer ${key}`,
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    for (const path of ['/inspector/live', '/inspect']) {
      const response = await fetch(service.url + path, { headers: handshake });
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([403, 'FORBIDDEN']);
      expect(error.message).toContain('emails:read');
    }
  });

  test('a printed link has no key and shows every kind', async () => {
    const [, ticket = ''] = await printed(service, /test {2}\S+#open=(\S+)\s/);
    const cookie = (await sessionCookie(service.url, { ticket })) ?? '';
    const { text } = await asking(cookie)('machines');
    expect((JSON.parse(text) as { data: Machine[] }).data.map(({ kind }) => kind).sort()).toEqual(ALL);
  });

  test('/inspect says nothing of it, neither at first nor later, by key or by ticket', async () => {
    const { key } = await keyWith('emails:read');
    const cookie = (await sessionCookie(service.url, { key })) ?? '';
    const reply = await fetch(`${service.url}/inspector/api/tickets`, {
      method: 'POST',
      headers: { cookie, ...FROM_OWN_PAGE },
    });
    const { data } = (await reply.json()) as { data: { ticket: string } };
    await endpoint();
    const before = await send();
    const hear = (query: string, headers: object) => {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/inspect${query}`, {
        headers,
      } as never);
      const heard: string[] = [];
      socket.onmessage = ({ data: text }) => void heard.push((JSON.parse(String(text)) as Heard).sessionId);
      return { heard, close: () => socket.close() };
    };
    const bounded = [hear('', { authorization: `Bearer ${key}` }), hear(`?ticket=${data.ticket}`, {})];
    const whole = hear('', { authorization: `Bearer ${TEST_KEY}` });
    const lines = [...bounded, whole];
    for (const { heard } of lines)
      await eventually('the first actors', async () => heard.find((id) => id === before));
    const hook = await endpoint();
    const after = await send();
    for (const { heard } of lines)
      await eventually('what happened', async () => heard.find((id) => id === after));
    expect(whole.heard).toContain(hook);
    for (const { heard } of bounded) expect(heard.filter((id) => !id.startsWith('em_'))).toEqual([]);
    for (const line of lines) line.close();
  });
});

interface Heard {
  readonly sessionId: string;
}

test('a ticket of a session opens no second session, which would outlive it', async () => {
  const cookie = (await sessionCookie(service.url, { key: TEST_KEY })) ?? '';
  const reply = await fetch(`${service.url}/inspector/api/tickets`, {
    method: 'POST',
    headers: { cookie, ...FROM_OWN_PAGE },
  });
  const { data } = (await reply.json()) as { data: { ticket: string } };
  expect(await sessionCookie(service.url, { ticket: data.ticket })).toBeNull();
});

test('a live view search across workspaces shows its own actors only, and all of them', async () => {
  using viewer = await openViewer(service.url, TEST_KEY);
  const { workspaceId } = await viewer.get<Session>('session');
  const begin = Date.now() - 60_000;
  // Three in each millisecond, so that the search stops within one; every 999th and the oldest are one's own.
  const ids = Array.from({ length: 21_001 }, (_, index) => mintId('dom', begin - Math.floor(index / 3)));
  ids.sort().reverse();
  const isOwn = (index: number) => index % 999 === 0 || Math.abs(index - 19_999) < 4 || index === 21_000;
  const own = ids.filter((_, index) => isOwn(index));
  const sql = postgres(database.url, { max: 1 });
  await sql`insert into workspaces (id, name, plan, created_at) values ('ws_other', 'Other', 'free', now())`;
  await sql`
    insert into domains (id, workspace_id, livemode, state, context, revision, machine_version, name, return_path)
    select id, case when id = any(${own}) then ${workspaceId} else 'ws_other' end, false, 'pending', '{}', 1, 1, id, ''
    from unnest(${ids}::text[]) as id`;
  await sql.end();
  const found: string[] = [];
  const pages: ActorPage[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page: ActorPage = await viewer.actors(`kind=domain${after && `&after=${after}`}`);
    pages.push(page);
    found.push(...page.actors.map(({ id }) => id));
    after = page.next;
  }
  expect(found).toEqual(own);
  const stop = pages[0]?.next ?? '';
  expect(pages).toHaveLength(2);
  expect(stop).toMatch(/^dom_\w{10}0{14}$/);
  expect(ids).not.toContain(stop);
});
