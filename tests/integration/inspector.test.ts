import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { createActor } from 'xstate';
import { openPack } from '../../src/web/dashboard/pack.ts';
import type { Machine } from '../../src/web/live/model.ts';
import { expectEnvelope, speak } from '../contract/ask.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, printed, type Service, startService, TEST_KEY } from '../support/service.ts';
import { FROM_OWN_PAGE, openViewer, runAtItsOwnStep, sessionCookie } from './inspector-viewer.ts';

let database: TestDatabase;
let service: Service;
let client: Client;

beforeAll(async () => {
  await openPack();
  database = await createTestDatabase();
  service = await startService({
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 's'.repeat(32),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      TEST_SENDS_PER_DAY: '0',
    },
  });
  client = createClient(service.url, TEST_KEY);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await database.close();
});

const send = async (to: string, more: object = {}): Promise<string> => {
  const mail = {
    from: 'a@example.com',
    to: `${to}@simulator.svc.test`,
    subject: 'Hello',
    text: 'x',
    ...more,
  };
  const { status, body } = await client.post('/v1/emails', mail);
  expect(status).toBe(202);
  return body.data.id;
};
const IN_AN_HOUR = () => new Date(Date.now() + 3_600_000).toISOString();

describe('access to the live view', () => {
  const PATHS = ['session', 'machines', 'actors?kind=email', 'actors/em_000000000000000000000001'];

  test('no one without a session, whatever key is sent', async () => {
    for (const path of PATHS)
      for (const headers of [
        {},
        { authorization: `Bearer ${TEST_KEY}` },
        { cookie: 'posthorn_session=e30.AAAA' },
      ]) {
        const response = await fetch(`${service.url}/inspector/api/${path}`, { headers });
        expect([path, response.status]).toEqual([path, 401]);
      }
  });

  test('a key with emails:read gets a cookie that no script reads; others learn what is missing', async () => {
    const { body } = await client.post('/v1/api-keys', {
      name: 'Sender',
      env: 'test',
      permissions: ['emails:send'],
    });
    const sender = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const answer = async (given: object) =>
      fetch(`${service.url}/inspector/api/session`, { ...sender, body: JSON.stringify(given) });
    const good = await answer({ key: TEST_KEY });
    expect(good.status).toBe(200);
    expect(good.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
    expect(good.headers.get('set-cookie')).not.toContain(TEST_KEY.slice(9));
    const poor = await answer({ key: body.data.key });
    expect(poor.status).toBe(403);
    expect(await poor.text()).toContain('emails:read');
    expect((await answer({ key: `svc_test_${'x'.repeat(32)}` })).status).toBe(401);
    expect((await answer({ ticket: 'never-printed' })).status).toBe(401);
    expect((await answer({})).status).toBe(422);
    expect((await answer({ key: TEST_KEY, ticket: 'x' })).status).toBe(422);
  });

  test('what is sent for a session is at most 4 KiB, and a key with a line break is no key', async () => {
    const post = (body: string) =>
      fetch(`${service.url}/inspector/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    const padded = (bytes: number) => `{"key":"x"${' '.repeat(bytes - 11)}}`;
    expect((await post(padded(4_096))).status).toBe(401);
    expect((await post(padded(4_097))).status).toBe(413);
    expect((await post(`{"key":[${'1,'.repeat(500_000)}1]}`)).status).toBe(413);
    for (const key of ['a\nb', `${TEST_KEY}\r\nx: y`, 'é', `${TEST_KEY} `])
      expect([key, (await post(JSON.stringify({ key }))).status]).toEqual([key, 401]);
  });

  test('a handshake with a target or a host that is none is refused as any other request', async () => {
    const upgrade = 'Connection: close\r\nUpgrade: websocket\r\n';
    const told = async (line: string, host: string) => {
      const heard = await speak(service.port, `${line}\r\n${host}${upgrade}\r\n`);
      const body = JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4));
      const status = Number(heard.split(' ')[1]);
      expectEnvelope(status, body);
      return status;
    };
    expect(await told('GET //[ HTTP/1.0', '')).toBe(401);
    expect(await told('GET //[?ticket=% HTTP/1.1', 'Host: x\r\n')).toBe(401);
    for (const host of ['a/b', '[', 'a b', 'a?b', ''])
      expect([host, await told('GET /inspector/live HTTP/1.1', `Host: ${host}\r\n`)]).toEqual([host, 401]);
    expect(service.output()).not.toContain('TypeError');
  });

  test('a link that serve has printed opens one session', async () => {
    const [, ticket = ''] = await printed(service, /test {2}\S+#open=(\S+)\s/);
    expect(await sessionCookie(service.url, { ticket })).toStartWith('posthorn_session=');
    expect(await sessionCookie(service.url, { ticket })).toBeNull();
  });

  test('sockets are refused without a session and from other sites', async () => {
    const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const cookie = (await sessionCookie(service.url, { key: TEST_KEY })) ?? '';
    for (const path of ['/inspector/live', '/inspect']) {
      const refused = async (headers: Record<string, string>, method = 'GET') => {
        const response = await fetch(service.url + path, { method, headers: { ...upgrade, ...headers } });
        expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{24}$/);
        const body = (await response.json()) as { error: { code: string } };
        expectEnvelope(response.status, body);
        return [response.status, body.error.code];
      };
      expect(await refused(key)).toEqual([401, 'UNAUTHORIZED']);
      expect(await refused({ ...key, cookie, origin: 'https://evil.example' })).toEqual([403, 'FORBIDDEN']);
      expect(await refused({ ...key, cookie }, 'POST')).toEqual([404, 'NOT_FOUND']);
      // Without its own key it is no handshake.
      expect(await refused({ cookie })).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('a page of another site gets no ticket with the cookie of a session', async () => {
    const cookie = (await sessionCookie(service.url, { key: TEST_KEY })) ?? '';
    const ask = async (headers: Record<string, string>) => {
      const options = { method: 'POST', headers: { cookie, ...headers } };
      return (await fetch(`${service.url}/inspector/api/tickets`, options)).status;
    };
    const json = { 'content-type': 'application/json' };
    expect(await ask({ 'content-type': 'application/x-www-form-urlencoded' })).toBe(403);
    expect(await ask({ ...json, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).toBe(403);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    expect(await ask(form)).toBe(415);
    // A request without fields needs no body, and so no type of one.
    expect(await ask({ 'sec-fetch-site': 'same-origin' })).toBe(201);
    expect(await ask(FROM_OWN_PAGE)).toBe(201);
  });

  test('a session ends with the key that it came from', async () => {
    const { body } = await client.post('/v1/api-keys', {
      name: 'Brief',
      env: 'test',
      permissions: ['emails:read'],
    });
    const cookie = (await sessionCookie(service.url, { key: body.data.key })) ?? '';
    const look = () => fetch(`${service.url}/inspector/api/machines`, { headers: { cookie } });
    expect((await look()).status).toBe(200);
    await client.delete(`/v1/api-keys/${body.data.id}`);
    expect((await look()).status).toBe(401);
  });
});

describe('the contents of the live view', () => {
  test('every kind with its drawn machine', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    const machines = await viewer.get<readonly Machine[]>('machines');
    const email = machines.find(({ kind }) => kind === 'email');
    expect(email?.drawing.states.find(({ name }) => name === 'deferred')?.description).not.toBe('');
    expect(email?.timed).toContain('scheduled');
    expect(email?.transient).toEqual(['accepted', 'gaveUp']);
  });

  test('an email moves, is counted and found, and its life is shown', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    const before = viewer.counts().email?.delivered?.count ?? 0;
    const id = await send('delivered');
    await eventually('the movement', async () =>
      viewer.ticks.flatMap(({ sample }) => sample).find((move) => move.id === id && move.to === 'delivered'),
    );
    await eventually('the count', async () =>
      viewer.counts().email?.delivered?.count === before + 1 ? true : undefined,
    );
    const life = await viewer.life(id);
    expect(life.steps.map(({ event, to }) => `${event} ${to}`)).toEqual([
      'spawned sending',
      'attempt.completed sent',
      'report.received delivered',
    ]);
    expect(life.explanation.evidence).toHaveLength(life.steps.length);
    expect(JSON.stringify(life)).not.toContain('@');
    const page = await viewer.actors(`kind=email&state=delivered&id=${id}`);
    expect(page.actors.map((actor) => actor.id)).toEqual([id]);
  });

  test('a list tells actors apart by domain, host, name and last event, and shows no address', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    const sent = await client.post('/v1/emails', {
      from: 'shop@example.com',
      to: ['Ada <opened@simulator.svc.test>', 'bob@other.example'],
      subject: 'Hello Ada',
      text: 'x',
    });
    expect(sent.status).toBe(202);
    const { id } = sent.body.data;
    // Which of the two is heard of last is left to chance.
    const item = await eventually('the end', async () => {
      const { actors } = await viewer.actors(`kind=email&state=delivered&id=${id}`);
      return actors[0];
    });
    expect(item).toMatchObject({
      title: 'simulator.svc.test',
      facts: expect.arrayContaining([
        '2 recipients',
        expect.stringMatching(/^last event (delivered|opened)$/),
      ]),
    });
    expect((await viewer.life(id)).title).toBe('simulator.svc.test');
    const hook = await client.post('/v1/webhooks', { url: 'https://example.com/secret', events: ['opened'] });
    const reader = await client.post('/v1/api-keys', {
      name: 'ada@example.com',
      env: 'test',
      permissions: ['emails:read'],
    });
    const [endpoints, keys] = await Promise.all([
      viewer.actors(`kind=webhookEndpoint&id=${hook.body.data.id}`),
      viewer.actors(`kind=apiKey&id=${reader.body.data.id}`),
    ]);
    expect(endpoints.actors[0]).toMatchObject({ title: 'https://example.com/…', facts: ['opened'] });
    expect(keys.actors[0]).toMatchObject({ title: '…@…', facts: [reader.body.data.prefix] });
    await client.delete(`/v1/webhooks/${hook.body.data.id}`);
  });

  test('a scheduled email waits for its moment; the one that is watched tells of its end', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    const at = IN_AN_HOUR();
    const id = await send('delivered', { scheduledAt: at });
    const tookMs = Date.now() + 3_600_000 - Date.parse(at);
    const life = await viewer.life(id);
    expect(life.timers.map(({ delay }) => delay)).toEqual(['due']);
    // The delay counts from the moment of the decision, which is made while the request is under way.
    expect(Math.abs((life.timers[0]?.at ?? 0) - Date.parse(at))).toBeLessThanOrEqual(tookMs);
    expect(life.explanation.next.at).toBe(life.timers[0]?.at ?? null);
    viewer.watch(id);
    // The service takes it in before the next request of the same connection is answered.
    await viewer.get('session');
    await client.delete(`/v1/emails/${id}`);
    await eventually('the news', async () => viewer.ticks.find(({ changed }) => changed.includes(id)));
    expect((await viewer.life(id)).state).toBe('cancelled');
  });

  test('pages go on where the one before has ended', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    await Promise.all(Array.from({ length: 60 }, () => send('delivered', { scheduledAt: IN_AN_HOUR() })));
    const first = await viewer.actors('kind=email&state=scheduled');
    const second = await viewer.actors(`kind=email&state=scheduled&after=${first.next}`);
    const ids = [...first.actors, ...second.actors].map(({ id }) => id);
    expect(first.actors).toHaveLength(50);
    expect(ids.length).toBeGreaterThanOrEqual(60);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(second.next).toBeNull();
  });

  test('nothing of the other environment', async () => {
    using live = await openViewer(service.url, LIVE_KEY);
    using viewer = await openViewer(service.url, TEST_KEY);
    const id = await send('delivered');
    const response = await fetch(`${service.url}/inspector/api/actors/${id}`, {
      headers: { cookie: live.cookie },
    });
    expect(response.status).toBe(404);
    expect((await live.actors('kind=email')).actors).toEqual([]);
    // Both environments get their news in the same turn: what has reached one would have reached the other.
    await eventually('the movement', async () =>
      viewer.ticks.flatMap(({ sample }) => sample).find((move) => move.id === id && move.to === 'delivered'),
    );
    expect(live.ticks.flatMap(({ sample }) => sample)).toEqual([]);
    expect(live.counts().email ?? {}).toEqual({});
  });
});

describe('unknown things in the live view', () => {
  test('answer 404 for unknown kinds, states and ids', async () => {
    using viewer = await openViewer(service.url, TEST_KEY);
    const status = async (path: string) =>
      (await fetch(`${service.url}/inspector/api/${path}`, { headers: { cookie: viewer.cookie } })).status;
    expect(await status('actors?kind=nothing')).toBe(404);
    expect(await status("actors?kind=email&state=sent'--")).toBe(404);
    expect(await status('actors/nothing_1')).toBe(404);
    for (const id of ['em_%00', '%zz', 'em_%ff'])
      expect([id, await status(`actors/${id}`)]).toEqual([id, 404]);
    expect(await status("actors?kind=email&id=em_';drop")).toBe(422);
  });
});

describe("Stately's inspector", () => {
  interface Message {
    readonly type: string;
    readonly _version?: unknown;
    readonly sessionId: string;
    readonly definition?: string;
    readonly snapshot?: { readonly value: string; readonly status: string; readonly context: unknown };
  }

  test('its own client takes what /inspect says: latest states first, then what happens', async () => {
    const earlier = await send('delivered', { scheduledAt: IN_AN_HOUR() });
    const run = await runAtItsOwnStep(database.url);
    const cookie = (await sessionCookie(service.url, { key: TEST_KEY })) ?? '';
    const reply = await fetch(`${service.url}/inspector/api/tickets`, {
      method: 'POST',
      headers: { cookie, ...FROM_OWN_PAGE },
    });
    const { data } = (await reply.json()) as { data: { ticket: string } };
    const messages: Message[] = [];
    const receiver = createWebSocketReceiver({
      server: `${service.url.replace('http', 'ws')}/inspect?ticket=${data.ticket}`,
    });
    const subscription = receiver.subscribe((message) => void messages.push(message as unknown as Message));
    const of = (id: string, type: string) =>
      messages.filter((one) => one.sessionId === id && one.type === type);
    await eventually('the latest states', async () => of(earlier, '@xstate.actor')[0]);
    await eventually('the run', async () => of(run, '@xstate.actor')[0]);
    const id = await send('delivered');
    await eventually('the end', async () =>
      of(id, '@xstate.snapshot').find(({ snapshot }) => snapshot?.value === 'delivered'),
    );
    subscription.unsubscribe();

    expect(of(earlier, '@xstate.actor')[0]?.snapshot).toMatchObject({ status: 'active', value: 'scheduled' });
    for (const message of messages) {
      expect(message.type).toMatch(/^@xstate\.(actor|event|snapshot)$/);
      expect(message._version).toBeString();
    }
    const definition = JSON.parse(of(id, '@xstate.actor')[0]?.definition ?? '{}');
    expect(Object.keys(definition.states)).toContain('delivered');
    expect(of(id, '@xstate.event').map((message) => (message as never as { event: object }).event)).toEqual([
      { type: 'attempt.completed' },
      { type: 'report.received' },
    ]);
    expect(JSON.stringify(messages)).not.toContain('@simulator');
  });

  test('a ticket opens one socket; a key in the header opens one too', async () => {
    const url = `${service.url.replace('http', 'ws')}/inspect`;
    const opens = (address: string, options = {}) =>
      new Promise<boolean>((resolve) => {
        const socket = new WebSocket(address, options as never);
        socket.onmessage = () => {
          resolve(true);
          socket.close();
        };
        socket.onclose = () => resolve(false);
      });
    const cookie = (await sessionCookie(service.url, { key: TEST_KEY })) ?? '';
    const reply = await fetch(`${service.url}/inspector/api/tickets`, {
      method: 'POST',
      headers: { cookie, ...FROM_OWN_PAGE },
    });
    const { data } = (await reply.json()) as { data: { ticket: string } };
    expect(await opens(`${url}?ticket=${data.ticket}`)).toBe(true);
    expect(await opens(`${url}?ticket=${data.ticket}`)).toBe(false);
    expect(await opens(url, { headers: { authorization: `Bearer ${TEST_KEY}` } })).toBe(true);
    expect(await opens(url, { headers: { authorization: `Bearer ${TEST_KEY.slice(0, -1)}x` } })).toBe(false);
  });

  test('the definition is one that XState itself can start', async () => {
    const { createMachine } = await import('xstate');
    const { introduction } = await import('../../src/web/live/stately/stately.ts');
    const { emailKind } = await import('../../src/sending/emails/kind.ts');
    const snapshot = emailKind.machine.resolveState({ value: 'sent', context: {} } as never);
    const message = introduction(emailKind, { id: 'em_1', snapshot } as never, 0) as { definition: string };
    const machine = createMachine(JSON.parse(message.definition));
    expect(Object.keys(machine.states)).toEqual(Object.keys(emailKind.machine.states));
    expect(createActor(machine).getSnapshot().status).toBeString();
  });
});
