import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createApiKey } from '../../src/accounts/api-keys/commands.ts';
import type { Permission } from '../../src/http/auth/permissions.ts';
import { type Browser, inviteMember, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// The keys of a member who leaves the workspace.

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service[Symbol.asyncDispose]());

const PERMISSIONS: readonly Permission[] = ['api-keys:write', 'api-keys:read', 'emails:read'];

interface NewKey {
  readonly id: string;
  readonly key: string;
}
async function made(
  told: Promise<{ status: number; text: string; body: { data: NewKey } }>,
): Promise<NewKey> {
  const { status, text, body } = await told;
  if (status !== 201) throw new Error(text);
  return body.data;
}
const byMember = (browser: Browser, env: string, permissions: readonly Permission[] = PERMISSIONS) =>
  made(browser.ask('/live/api-keys', { name: 'Mine', env, permissions }));
const byKey = (key: string) =>
  made(
    service.ask({
      method: 'POST',
      path: '/v1/api-keys',
      key,
      body: { name: 'Grandchild', env: 'live', permissions: ['emails:read'] },
    }),
  );
const statusOf = async (key: string) => (await service.ask({ path: '/v1/emails', key })).status;
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).sort();

test('keys go on when who made them is removed, unless they are revoked with the member', async () => {
  const [staying, leaving] = [
    await inviteMember(service, owner, 'admin'),
    await inviteMember(service, owner, 'admin'),
  ];
  const kept = await byMember(staying.browser, 'live');
  const own = [await byMember(leaving.browser, 'live'), await byMember(leaving.browser, 'test')];
  const made = await byKey(own[0]?.key ?? '');
  const others = await byMember(owner, 'live');
  const listed = await owner.ask(`/live/api-keys?createdBy=${leaving.id}`);
  expect(idsOf(listed.body.data)).toEqual(idsOf(own));
  expect((await owner.ask(`/test/api-keys?createdBy=${leaving.id}`)).body.data).toHaveLength(1);
  expect((await owner.ask('/live/api-keys?createdBy=mem_nobody')).body.data).toEqual([]);

  expect((await owner.ask(`/live/members/${staying.id}`, {}, 'DELETE')).status).toBe(204);
  expect(await statusOf(kept.key)).toBe(200);
  // From the test environment as well: a member belongs to both.
  const removed = await owner.ask(`/test/members/${leaving.id}?revokeKeys=true`, {}, 'DELETE');
  expect(removed.status).toBe(204);
  for (const { key } of [...own, made]) expect(await statusOf(key)).toBe(401);
  expect(await statusOf(others.key)).toBe(200);
  expect(await statusOf(kept.key)).toBe(200);
  const log = (await owner.ask('/live/audit-log?limit=100')).body.data as {
    action: string;
    target: { id: string };
    details: { createdBy?: string };
    requestId: string;
  }[];
  const revoked = log.filter(
    ({ action, details }) => action === 'apiKey.revoked' && details.createdBy === leaving.id,
  );
  expect(revoked.map(({ target }) => target.id).sort()).toEqual(idsOf([...own, made]));
  const request = removed.headers.get('x-request-id') ?? '';
  expect(revoked.map(({ requestId }) => requestId)).toEqual(revoked.map(() => request));
});

test('who may not revoke a key removes its maker only without it, and nothing is done by halves', async () => {
  const second = await inviteMember(service, owner, 'owner');
  const whole = await byMember(second.browser, 'live', ['*']);
  expect((await owner.ask(`/live/members/${second.id}`, { role: 'admin' }, 'PATCH')).status).toBe(200);
  const limited = await byMember(second.browser, 'live');
  const admin = await inviteMember(service, owner, 'admin');
  const path = `/live/members/${second.id}?revokeKeys=true`;
  const refused = await admin.browser.ask(path, {}, 'DELETE');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
  expect(await statusOf(limited.key)).toBe(200);
  const inviter = await made(
    owner.ask('/live/api-keys', { name: 'Inviter', env: 'live', permissions: ['members:write'] }),
  );
  const byInviter = await service.ask({
    method: 'DELETE',
    path: `/v1/members/${second.id}?revokeKeys=true`,
    key: inviter.key,
  });
  expect([byInviter.status, byInviter.body.error.message]).toEqual([
    403,
    expect.stringContaining('api-keys:write'),
  ]);
  expect((await owner.ask(path, {}, 'DELETE')).status).toBe(204);
  for (const { key } of [whole, limited]) expect(await statusOf(key)).toBe(401);
});

test('who is removed while their request for a key is under way gets none, and leaves none behind', async () => {
  const { engine, database } = service.service;
  const made = (kind: 'member' | 'key', id: string) => {
    const caller = { kind, id, workspaceId: service.workspaceId, livemode: true, permissions: PERMISSIONS };
    const body = { name: 'Late', env: 'live', permissions: ['emails:read'] };
    const call = { caller, body, claim: null, params: {}, query: {}, now: Date.now() };
    return createApiKey({ engine, database } as never, call as never);
  };
  const revoked = await service.keyWith('live', PERMISSIONS);
  const [first] = await database.query<{ id: string }>('select id from api_keys order by id desc limit 1');
  expect(await made('key', first?.id ?? '')).toMatchObject({ key: expect.stringMatching(/^svc_live_/) });
  const path = `/v1/api-keys/${first?.id}`;
  const key = await service.keyWith('live', ['*']);
  expect((await service.ask({ method: 'DELETE', path, key })).status).toBe(200);
  expect(await statusOf(revoked)).toBe(401);
  for (const refused of [await made('key', first?.id ?? ''), await made('member', 'mem_gone')])
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED' });
  const left = await database.query(
    `select id from api_keys where state = 'active' and name = 'Late' and created_by = 'mem_gone'`,
  );
  expect(left).toEqual([]);
  expect(await database.query(`select id from api_keys where created_by = 'mem_gone'`)).toHaveLength(1);
});

test('the last owner stays, with every key', async () => {
  const [{ id }] = (await owner.ask('/live/members')).body.data;
  const key = await byMember(owner, 'live');
  expect((await owner.ask(`/live/members/${id}?revokeKeys=true`, {}, 'DELETE')).status).toBe(409);
  expect(await statusOf(key.key)).toBe(200);
});

test('a refused access is in the log with who tried it, and nothing of a credential', async () => {
  const viewer = await inviteMember(service, owner, 'viewer');
  expect(
    (await viewer.browser.ask('/live/members/invitations', { email: 'a@b.co', role: 'viewer' })).status,
  ).toBe(403);
  const guess = `svc_live_${'G'.repeat(32)}`;
  expect(await statusOf(guess)).toBe(401);
  const lines = service
    .logged()
    .split('\n')
    .filter((line) => line.includes('Access was refused'))
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ caller: viewer.id, route: '/app/api/live/members/invitations', status: 403 }),
  );
  expect(lines).toContainEqual(expect.objectContaining({ caller: null, route: '/v1/emails', status: 401 }));
  expect(service.logged()).not.toContain(guess);
});

test('a test key never reads the audit log, which names live acts; a member does in both environments', async () => {
  const { key } = (await owner.ask('/test/api-keys', { name: 'all', env: 'test', permissions: ['*'] })).body
    .data;
  for (const path of ['/v1/audit-log', '/v1/audit-log/count', '/v1/audit-log/export']) {
    const answer = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([path, answer.status, error.code]).toEqual([path, 403, 'TEST_MODE_NOT_SUPPORTED']);
  }
  expect((await owner.ask('/test/audit-log')).status).toBe(200);
});
