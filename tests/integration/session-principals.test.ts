import { afterAll, beforeAll, expect, test } from 'bun:test';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';

const CLIENT = '192.0.2.1';
let real: RealService;
beforeAll(async () => {
  real = await startRealService();
  await setPlan(real.service.database, real.workspaceId, 'growth');
});
afterAll(() => real[Symbol.asyncDispose]());

/** Begins a session and answers the headers that a browser then sends. */
async function begin(body: { readonly key?: string; readonly ticket?: string }): Promise<Headers> {
  const cookie = await real.service.inspector.deps.inspectorSessions.begin(body, new Headers(), CLIENT);
  if (typeof cookie !== 'string') throw new Error(cookie.message);
  return new Headers({ cookie: cookie.split(';')[0] ?? '' });
}
async function principal(headers: Headers) {
  const found = await real.service.sessions.principal(headers);
  if (found instanceof Failure) throw new Error(found.message);
  return found;
}

test('a session that was opened with a key is that key, on the true plan of its workspace', async () => {
  const headers = await begin({ key: await real.keyWith('test', ['emails:read', 'domains:read']) });
  expect(await principal(headers)).toEqual({
    kind: 'key',
    id: expect.stringMatching(/^key_/),
    workspaceId: real.workspaceId,
    livemode: false,
    permissions: ['emails:read', 'domains:read'],
    plan: 'growth',
    senderDefaults: { from: null, replyTo: null },
  });
  await setPlan(real.service.database, real.workspaceId, 'unlimited');
  expect(await principal(headers)).toMatchObject({ plan: 'unlimited' });
  await setPlan(real.service.database, real.workspaceId, 'growth');
});

test('a session that a printed link has opened is that link, and no key', async () => {
  const link = await real.service.inspector.link({ workspaceId: real.workspaceId, livemode: true });
  const [, ticket = ''] = /#open=([\w-]+)$/.exec(link) ?? [];
  const opened = await principal(await begin({ ticket }));
  expect(opened).toMatchObject({
    kind: 'operatorLink',
    workspaceId: real.workspaceId,
    livemode: true,
    permissions: ['*'],
    plan: 'growth',
  });
  expect(opened?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(
    await real.service.inspector.deps.inspectorSessions.begin({ ticket }, new Headers(), CLIENT),
  ).toMatchObject({
    code: 'UNAUTHORIZED',
  });
});

test('signing out ends the session on the server: its cookie opens nothing afterwards', async () => {
  const headers = await begin({ key: await real.keyWith('test', ['emails:read']) });
  expect(await principal(headers)).not.toBeNull();
  const told = await real.ask({
    method: 'DELETE',
    path: '/inspector/api/session',
    headers: { cookie: headers.get('cookie') ?? '' },
  });
  expect(told.headers.get('set-cookie')).toContain('Max-Age=0');
  expect(await principal(headers)).toBeNull();
});

test('a browser that signs in again has another session, and its earlier one has ended', async () => {
  const key = await real.keyWith('test', ['emails:read']);
  const before = await begin({ key });
  const cookie = await real.service.inspector.deps.inspectorSessions.begin({ key }, before, CLIENT);
  const after = new Headers({ cookie: String(cookie).split(';')[0] ?? '' });
  expect(await principal(before)).toBeNull();
  expect(await principal(after)).not.toBeNull();
});

test('two links are two principals, whose requests and connections are counted apart', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => {
      const link = await real.service.inspector.link({ workspaceId: real.workspaceId, livemode: true });
      return (await principal(await begin({ ticket: link.split('#open=')[1] ?? '' })))?.id;
    }),
  );
  expect(new Set(ids).size).toBe(2);
});

test('no ticket lies among the idempotency keys', async () => {
  const keys = await real.service.database.query('select 1 as one from idempotency_keys');
  expect(keys).toEqual([]);
  const tokens = await real.service.database.query<{ purpose: string }>(
    'select purpose from one_time_tokens',
  );
  expect(tokens.map(({ purpose }) => purpose)).toContain('live view');
});
