import { afterAll, beforeAll, expect, test } from 'bun:test';
import { setPlan } from '../../src/modules/workspace/commands.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';

let real: RealService;
beforeAll(async () => {
  real = await startRealService();
  await setPlan(real.service.database, real.workspaceId, 'growth');
});
afterAll(() => real[Symbol.asyncDispose]());

/** Begins a session and answers the headers that a browser then sends. */
async function begin(body: { readonly key?: string; readonly ticket?: string }): Promise<Headers> {
  const cookie = await real.service.inspector.deps.inspectorSessions.begin(body);
  if (typeof cookie !== 'string') throw new Error(cookie.message);
  return new Headers({ cookie: cookie.split(';')[0] ?? '' });
}
const principal = (headers: Headers) => real.service.sessions.principal(headers);

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
  expect(await real.service.inspector.deps.inspectorSessions.begin({ ticket })).toMatchObject({
    code: 'UNAUTHORIZED',
  });
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
