import { afterAll, beforeAll, expect, test } from 'bun:test';
import { invite } from '../../src/accounts/members/invitations.ts';
import { Browser, codeOf, inviteMember, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// The rights of members over others, and the traces of a removed one.

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service[Symbol.asyncDispose]());

test('members cannot grant, change or remove a role higher than their own', async () => {
  const admin = await inviteMember(service, owner, 'admin');
  const viewer = await inviteMember(service, owner, 'viewer');
  const [first] = (await owner.ask('/live/members')).body.data;
  const own = (await owner.ask('/session')).body.data.member.id;
  expect(first.id).toBe(own);
  const patch = (browser: Browser, id: string, role: string) =>
    browser.ask(`/live/members/${id}`, { role }, 'PATCH');
  expect(codeOf(await patch(admin.browser, viewer.id, 'owner'))).toEqual([403, 'FORBIDDEN']);
  expect(codeOf(await patch(admin.browser, admin.id, 'owner'))).toEqual([403, 'FORBIDDEN']);
  expect(codeOf(await patch(admin.browser, own, 'viewer'))).toEqual([403, 'FORBIDDEN']);
  expect(codeOf(await admin.browser.ask(`/live/members/${own}`, {}, 'DELETE'))).toEqual([403, 'FORBIDDEN']);
  const asOwner = { email: 'new@acme.example', role: 'owner' };
  expect(codeOf(await admin.browser.ask('/live/members/invitations', asOwner))).toEqual([403, 'FORBIDDEN']);
  expect((await patch(admin.browser, viewer.id, 'admin')).body.data.role).toBe('admin');
  expect((await viewer.browser.ask('/session')).body.data.member.role).toBe('admin');
  expect((await patch(owner, viewer.id, 'viewer')).status).toBe(200);
  // A key that an admin makes holds no more than the admin does, and neither does a key of members:write.
  const all = { name: 'a', env: 'live', permissions: ['*'] };
  expect(codeOf(await admin.browser.ask('/live/api-keys', all))).toEqual([403, 'FORBIDDEN']);
  const key = await service.keyWith('live', ['members:write']);
  const byKey = { method: 'PATCH', path: `/v1/members/${viewer.id}`, key };
  expect(codeOf(await service.ask({ ...byKey, body: { role: 'owner' } }))).toEqual([403, 'FORBIDDEN']);
  expect((await service.ask({ ...byKey, body: { role: 'member' } })).status).toBe(200);
  // With a test key, adding a member would open the live environment.
  const testKey = await service.keyWith('test', ['*']);
  for (const [method, path, body] of [
    ['POST', '/v1/members/invitations', { email: 'new@acme.example', role: 'viewer' }],
    ['PATCH', `/v1/members/${viewer.id}`, { role: 'owner' }],
    ['DELETE', `/v1/members/${viewer.id}`, {}],
  ] as const)
    expect(codeOf(await service.ask({ method, path, body, key: testKey }))).toEqual([403, 'FORBIDDEN']);
});

test('who was removed or lowered leaves no invitation behind that they could not make any more', async () => {
  const leaving = await inviteMember(service, owner, 'owner');
  const lowered = await inviteMember(service, owner, 'owner');
  const linkOf = async ({ browser }: { browser: Browser }, email: string, role: string) =>
    (await browser.ask('/live/members/invitations', { email, role })).body.data.url.split('#token=')[1];
  const back = await linkOf(leaving, 'back@evil.example', 'owner');
  const high = await linkOf(lowered, 'high@evil.example', 'owner');
  const low = await linkOf(lowered, 'low@acme.example', 'member');
  const testKey = await service.keyWith('test', ['*']);
  const [waiting] = (await owner.ask('/live/members/invitations')).body.data;
  const byTestKey = { method: 'DELETE', path: `/v1/members/invitations/${waiting.id}`, key: testKey };
  expect(codeOf(await service.ask(byTestKey))).toEqual([403, 'FORBIDDEN']);
  expect((await owner.ask(`/live/members/${leaving.id}`, {}, 'DELETE')).status).toBe(204);
  expect((await owner.ask(`/live/members/${lowered.id}`, { role: 'admin' }, 'PATCH')).status).toBe(200);
  const accept = (token: string) =>
    new Browser(service).ask('/invitation', { token, name: 'Eve', password: PASSWORD });
  expect(codeOf(await accept(back))).toEqual([400, 'INVALID_TOKEN']);
  expect(codeOf(await accept(high))).toEqual([400, 'INVALID_TOKEN']);
  expect((await accept(low)).status).toBe(201);
});

test('an invitation that was under way while its maker was removed or lowered gives no role above theirs', async () => {
  const { database } = service.service;
  const removed = await inviteMember(service, owner, 'owner');
  const lowered = await inviteMember(service, owner, 'owner');
  expect((await owner.ask(`/live/members/${removed.id}`, {}, 'DELETE')).status).toBe(204);
  expect((await owner.ask(`/live/members/${lowered.id}`, { role: 'admin' }, 'PATCH')).status).toBe(200);
  // Their requests were admitted before, as those of owners.
  const accepted = async (id: string, email: string, role: string) => {
    const caller = {
      kind: 'member',
      id,
      workspaceId: service.workspaceId,
      livemode: true,
      permissions: ['*'],
    };
    const call = { caller, body: { email, role }, claim: null, now: Date.now() };
    const deps = { database, sealer: { seal: (text: string) => text }, mail: async () => {}, publicUrl: '' };
    const { url } = (await invite(deps as never, call as never)) as { url: string };
    const form = { token: url.split('#token=')[1], name: 'Eve', password: PASSWORD };
    return codeOf(await new Browser(service).ask('/invitation', form));
  };
  expect(await accepted(removed.id, 'late@evil.example', 'owner')).toEqual([400, 'INVALID_TOKEN']);
  expect(await accepted(removed.id, 'later@evil.example', 'viewer')).toEqual([400, 'INVALID_TOKEN']);
  expect(await accepted(lowered.id, 'latest@evil.example', 'owner')).toEqual([400, 'INVALID_TOKEN']);
  expect(await accepted(lowered.id, 'late@acme.example', 'admin')).toEqual([201, undefined]);
});

test('who was removed is out at once', async () => {
  const gone = await inviteMember(service, owner, 'member');
  expect((await gone.browser.ask('/live/emails')).status).toBe(200);
  expect((await owner.ask(`/live/members/${gone.id}`, {}, 'DELETE')).status).toBe(204);
  expect((await gone.browser.ask('/live/emails')).status).toBe(401);
  expect(codeOf(await gone.browser.signIn(gone.email))).toEqual([403, 'FORBIDDEN']);
  expect((await owner.ask(`/live/members/${gone.id}`, {}, 'DELETE')).status).toBe(404);
  // Without a workspace there is no session, so the password of the account lets the person in again.
  const again = { email: gone.email, role: 'viewer' };
  const { url } = (await owner.ask('/live/members/invitations', again)).body.data;
  const link = { token: url.split('#token=')[1], name: 'Back' };
  const back = new Browser(service);
  expect(codeOf(await back.ask('/invitation', link))).toEqual([409, 'CONFLICT']);
  const wrong = { ...link, password: `${PASSWORD}!` };
  expect(codeOf(await back.ask('/invitation', wrong))).toEqual([401, 'UNAUTHORIZED']);
  expect((await back.ask('/invitation', { ...link, password: PASSWORD })).status).toBe(201);
  expect((await back.ask('/session')).body.data.member.role).toBe('viewer');
});

test('a workspace keeps an owner, in a hundred races of two who demote each other or leave', async () => {
  const other = await inviteMember(service, owner, 'owner');
  const own = (await owner.ask('/session')).body.data.member.id;
  const key = await service.keyWith('live', ['*']);
  const change = (id: string, at: number) =>
    at % 4 === 3
      ? service.ask({ method: 'PATCH', path: `/v1/members/${id}`, key, body: { role: 'viewer' } })
      : owner.ask(`/live/members/${id}`, { role: 'member' }, 'PATCH');
  const statuses: number[] = [];
  for (let at = 0; at < 100; at++) {
    const told = await Promise.all([change(own, at), change(other.id, at + 1)]);
    statuses.push(...told.map(({ status }) => status));
    const rows = await service.service.database.query<{ id: string }>(
      `select id from members where workspace_id = $1 and role = 'owner'`,
      [service.workspaceId],
    );
    expect(rows).toHaveLength(1);
    await service.service.database.query(`update members set role = 'owner' where id = any($1::text[])`, [
      [own, other.id],
    ]);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  await owner.ask(`/live/members/${other.id}`, {}, 'DELETE');
  expect(codeOf(await owner.ask(`/live/members/${own}`, {}, 'DELETE'))).toEqual([409, 'CONFLICT']);
  expect(codeOf(await owner.ask(`/live/members/${own}`, { role: 'admin' }, 'PATCH'))).toEqual([
    409,
    'CONFLICT',
  ]);
});
