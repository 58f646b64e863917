import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Browser, codeOf, PASSWORD, setUpOwnerAndSomebody } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// The ways to join a workspace.

const OWNER = 'ada@acme.example';
const BOB = 'bob@b.example';
let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService({ SIGNUP: 'open' });
  owner = await setUpOwnerAndSomebody(service, BOB);
});
afterAll(() => service[Symbol.asyncDispose]());

const tokenOf = async (email: string, role = 'viewer') =>
  (await owner.ask('/live/members/invitations', { email, role })).body.data.url.split('#token=')[1];

test('holds once, also for two at the same time', async () => {
  const token = await tokenOf('once@acme.example');
  const accept = () => new Browser(service).ask('/invitation', { token, name: 'Once', password: PASSWORD });
  const told = await Promise.all([accept(), accept()]);
  expect(told.map(({ status }) => status).sort()).toEqual([201, 400]);
  expect(codeOf(await accept())).toEqual([400, 'INVALID_TOKEN']);
});

test('is for its address alone: another account, or a visitor without one, does not join with it', async () => {
  const token = await tokenOf(BOB);
  const stranger = new Browser(service);
  await stranger.signIn('once@acme.example');
  expect(codeOf(await stranger.ask('/invitation', { token, name: 'X', password: PASSWORD }))).toEqual([
    409,
    'CONFLICT',
  ]);
  expect(
    codeOf(await new Browser(service).ask('/invitation', { token, name: 'X', password: PASSWORD })),
  ).toEqual([409, 'CONFLICT']);
  const bob = new Browser(service);
  await bob.signIn(BOB);
  expect((await bob.ask('/invitation', { token })).status).toBe(201);
  expect((await bob.ask('/session')).body.data).toMatchObject({
    member: { role: 'viewer' },
    workspace: { id: service.workspaceId },
  });
  expect((await bob.ask('/workspaces')).body.data).toHaveLength(2);
});

test('is shown to who has its link: workspace, inviter, address and role, and to no one once it is used', async () => {
  const email = 'shown@acme.example';
  const token = await tokenOf(email);
  const look = () => new Browser(service).ask('/invitation/details', { token });
  const { invitedBy, expiresAt, ...shown } = (await look()).body.data;
  const { workspace, account } = (await owner.ask('/session')).body.data;
  expect(shown).toEqual({ email, role: 'viewer', workspaceName: workspace.name });
  expect(invitedBy).toBe(account.name);
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
  await new Browser(service).ask('/invitation', { token, name: 'Shown', password: PASSWORD });
  expect(codeOf(await look())).toEqual([400, 'INVALID_TOKEN']);
  expect(codeOf(await new Browser(service).ask('/invitation/details', { token: 'x'.repeat(43) }))).toEqual([
    400,
    'INVALID_TOKEN',
  ]);
});

test('is refused for a member, for whom one waits, and opens nothing once it was taken back or is too old', async () => {
  const email = 'waits@acme.example';
  const token = await tokenOf(email);
  for (const each of [email, OWNER, 'Waits@ACME.example'])
    expect(codeOf(await owner.ask('/live/members/invitations', { email: each, role: 'viewer' }))).toEqual([
      409,
      'CONFLICT',
    ]);
  const [listed] = (await owner.ask('/live/members/invitations')).body.data;
  expect(listed).toMatchObject({ email, role: 'viewer', acceptedAt: null });
  expect(JSON.stringify(listed)).not.toContain(token);
  await owner.ask(`/live/members/invitations/${listed.id}`, {}, 'DELETE');
  const form = { token, name: 'X', password: PASSWORD };
  expect(codeOf(await new Browser(service).ask('/invitation', form))).toEqual([400, 'INVALID_TOKEN']);
  const old = await tokenOf(email);
  await service.service.database.query(
    `update invitations set expires_at = now() - interval '1 second' where email_key = $1`,
    [email],
  );
  expect(codeOf(await new Browser(service).ask('/invitation', { ...form, token: old }))).toEqual([
    400,
    'INVALID_TOKEN',
  ]);
});

test('is refused for a password that everybody guesses, and is not used up by that', async () => {
  const token = await tokenOf('weak@acme.example');
  for (const password of [
    'short',
    'passwordpassword',
    'aaaaaaaaaaaaaaaa',
    '12345678901234',
    'weak@acme.example',
    'x'.repeat(129),
  ]) {
    const told = await new Browser(service).ask('/invitation', { token, name: 'Weak', password });
    expect([password, told.status, told.body.error.details?.[0]?.path]).toEqual([
      password,
      422,
      '/body/password',
    ]);
  }
  const told = await new Browser(service).ask('/invitation', { token, name: 'Weak', password: PASSWORD });
  expect(told.status).toBe(201);
});

test('is made once for an address, also by requests at the same time', async () => {
  for (let round = 0; round < 5; round++) {
    const email = `at-once-${round}@acme.example`;
    const told = await Promise.all(
      Array.from({ length: 6 }, () => owner.ask('/live/members/invitations', { email, role: 'viewer' })),
    );
    expect(told.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  }
});

test('takes no place among the hundred once its inviter could not make it any more', async () => {
  const { database } = service.service;
  const key = await service.keyWith('live', ['*']);
  const invite = (email: string) =>
    service.ask({ key, method: 'POST', path: '/v1/members/invitations', body: { email, role: 'viewer' } });
  await invite('void@acme.example');
  // A request that was under way when its key was revoked may write one.
  await database.query(`insert into invitations (id, workspace_id, email, email_key, role, invited_by, hash, expires_at)
    select 'inv_' || n, i.workspace_id, n || '@void.example', n || '@void.example', i.role, i.invited_by, 'hash ' || n, i.expires_at
    from invitations i, generate_series(1, 99) n where i.email_key = 'void@acme.example'`);
  expect((await invite('beyond@acme.example')).status).toBe(409);
  await database.query(
    `update invitations set invited_by = 'mem_none' where email_key like '%@void.example' or email_key = 'void@acme.example'`,
  );
  expect((await invite('beyond@acme.example')).status).toBe(201);
});
