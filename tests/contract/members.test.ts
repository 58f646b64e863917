import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { lowestIdAt } from '../../src/db/ids.ts';
import { Browser, inviteMember, ORIGIN, PASSWORD, setupToken } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let owner: Browser;
const OWNER = 'ada@acme.example';

beforeAll(async () => {
  service = await startRealService({ SIGNUP: 'open' });
});
afterAll(() => service[Symbol.asyncDispose]());

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } | null }) => [
  status,
  body?.error?.code,
];

describe('the first start', () => {
  test('lets nobody sign up before the printed link made an owner', async () => {
    const stranger = new Browser(service);
    const form = { email: 'eve@evil.example', password: PASSWORD, name: 'Eve' };
    expect(codeOf(await stranger.ask('/signup', form))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await stranger.ask('/setup', { ...form, token: 'guess' }))).toEqual([400, 'INVALID_TOKEN']);
  });

  test('makes one owner of two links that are used at the same time, and none later of those left over', async () => {
    const leftOver = await setupToken(service);
    const tokens = [await setupToken(service), await setupToken(service)];
    const told = await Promise.all(
      tokens.map(async (token, at) => {
        const browser = new Browser(service);
        const email = at === 0 ? OWNER : 'eve@evil.example';
        const answer = await browser.ask('/setup', { token, email, password: PASSWORD, name: 'Ada' });
        return { browser, answer, email };
      }),
    );
    expect(told.map(({ answer }) => answer.status).sort()).toEqual([201, 400]);
    expect(await setupToken(service)).toBe('');
    // Also when the first owner has left, and somebody else is one.
    await service.service.database.query(`update members set id = 'mem_someoneelse'`);
    const late = { token: leftOver, email: 'late@evil.example', password: PASSWORD, name: 'Eve' };
    expect(codeOf(await new Browser(service).ask('/setup', late))).toEqual([400, 'INVALID_TOKEN']);
    await service.service.database.query('update members set id = $1', [lowestIdAt('mem', 0)]);
    const won = told.find(({ answer }) => answer.status === 201);
    owner = won?.browser as Browser;
    if (won?.email !== OWNER)
      await service.service.database.query(`update accounts set email = $1, email_key = $1`, [OWNER]);
    expect((await owner.ask('/live/members')).body.data[0].lastSeenAt).not.toBeNull();
    expect((await owner.ask('/session')).body.data).toMatchObject({
      account: { email: OWNER },
      member: { role: 'owner' },
      permissions: ['*'],
      workspace: { id: service.workspaceId, archived: false },
    });
  });

  test('afterwards anybody may sign up where SIGNUP is open, into a workspace of their own', async () => {
    const browser = new Browser(service);
    const told = await browser.ask('/signup', { email: 'bob@b.example', password: PASSWORD, name: 'Bob' });
    expect(told.status).toBe(201);
    const { data } = (await browser.ask('/session')).body;
    expect(data.workspace.id).not.toBe(service.workspaceId);
    expect(data.member.role).toBe('owner');
    const again = { email: 'BOB@b.example', password: PASSWORD, name: 'Bob' };
    expect(codeOf(await new Browser(service).ask('/signup', again))).toEqual([409, 'CONFLICT']);
  });
});

describe('signing in', () => {
  test('answers the same to a wrong password and to an account that does not exist', async () => {
    const wrong = await new Browser(service).signIn(OWNER, 'not this password');
    const unknown = await new Browser(service).signIn('nobody@acme.example', 'not this password');
    const malformed = await new Browser(service).signIn('nonsense', 'not this password');
    expect(codeOf(wrong)).toEqual([401, 'UNAUTHORIZED']);
    expect([unknown.text, malformed.text]).toEqual([wrong.text, wrong.text]);
  });

  test('gives each sign-in a session of its own, and one that somebody brought along is not used', async () => {
    const fixed = `posthorn_session=${'A'.repeat(43)}`;
    const browser = new Browser(service);
    browser.cookie = fixed;
    expect((await browser.signIn(OWNER)).status).toBe(200);
    expect(browser.cookie).not.toBe(fixed);
    const first = browser.cookie;
    await browser.signIn(OWNER);
    expect(browser.cookie).not.toBe(first);
    for (const cookie of [fixed, first]) {
      browser.cookie = cookie;
      expect((await browser.ask('/session')).status).toBe(401);
    }
  });

  test('ends on the server: a copied cookie opens nothing after signing out', async () => {
    const browser = new Browser(service);
    await browser.signIn(OWNER);
    const copied = new Browser(service);
    copied.cookie = browser.cookie;
    expect((await copied.ask('/session')).status).toBe(200);
    expect((await browser.ask('/session', {}, 'DELETE')).status).toBe(200);
    expect((await copied.ask('/session')).status).toBe(401);
  });

  test('is refused to pages of other sites: form, fetch and a signed-in browser alike', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ]) {
      const told = await new Browser(service).ask(
        '/session',
        { email: OWNER, password: PASSWORD },
        'POST',
        headers,
      );
      expect(codeOf(told)).toEqual([403, 'FORBIDDEN']);
      for (const path of ['/live/members/invitations', '/workspaces', '/account/totp'])
        expect([path, ...codeOf(await owner.ask(path, {}, 'POST', headers))]).toEqual([
          path,
          403,
          'FORBIDDEN',
        ]);
      expect(codeOf(await owner.ask('/session', {}, 'DELETE', headers))).toEqual([403, 'FORBIDDEN']);
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await owner.ask('/workspaces', {}, 'POST', form)).status).toBe(415);
    expect((await owner.ask('/session')).status).toBe(200);
  });

  test('lists the sessions, ends one of them, and all others', async () => {
    const [here, there, elsewhere] = [new Browser(service), new Browser(service), new Browser(service)];
    for (const each of [here, there, elsewhere]) await each.signIn(OWNER);
    const { data } = (await there.ask('/account/sessions')).body;
    expect(data[0]).toMatchObject({ client: '127.0.0.1', current: false });
    const ofThere = data.find(({ current }: { current: boolean }) => current);
    expect((await here.ask(`/account/sessions/${ofThere.id}`, {}, 'DELETE')).status).toBe(204);
    expect((await there.ask('/session')).status).toBe(401);
    const foreign = new Browser(service);
    await foreign.signIn('bob@b.example');
    expect((await foreign.ask(`/account/sessions/${data[0].id}`, {}, 'DELETE')).status).toBe(404);
    expect((await here.ask('/account/sessions', {}, 'DELETE')).status).toBe(204);
    expect((await elsewhere.ask('/session')).status).toBe(401);
    expect((await here.ask('/account/sessions')).body.data).toHaveLength(1);
    owner = here;
  });
});

describe('the same routes for members', () => {
  test('answer a session under the prefix of the dashboard, in the environment of the path', async () => {
    const sent = await owner.ask('/test/emails', {
      from: 'a@b.example',
      to: 'c@d.example',
      subject: 'Hello',
      text: 'Hi',
    });
    expect([sent.status, sent.body.data.livemode]).toEqual([202, false]);
    const { id } = sent.body.data;
    expect((await owner.ask(`/test/emails/${id}`)).status).toBe(200);
    expect((await owner.ask(`/live/emails/${id}`)).status).toBe(404);
    expect(codeOf(await owner.ask('/test/emails?nonsense=1'))).toEqual([422, 'VALIDATION_ERROR']);
    expect(codeOf(await owner.ask('/test/api-keys', { name: 'a', env: 'live', permissions: ['*'] }))).toEqual(
      [403, 'FORBIDDEN'],
    );
  });

  test('take no key there, and no cookie under /v1', async () => {
    const key = await service.keyWith('live', ['*']);
    expect((await service.ask({ path: '/app/api/live/emails', key })).status).toBe(401);
    const headers = { cookie: owner.cookie, origin: ORIGIN };
    expect((await service.ask({ path: '/v1/emails', headers })).status).toBe(401);
  });

  test('refuse a page that was made for another workspace than the session works in by now', async () => {
    const told = await owner.ask('/live/emails', undefined, 'GET', { 'x-svc-workspace': 'ws_other' });
    expect(codeOf(told)).toEqual([409, 'CONFLICT']);
    const own = { 'x-svc-workspace': service.workspaceId };
    expect((await owner.ask('/live/emails', undefined, 'GET', own)).status).toBe(200);
  });
});

describe('an invitation', () => {
  const tokenOf = async (email: string, role = 'viewer') =>
    (await owner.ask('/live/members/invitations', { email, role })).body.data.url.split('#token=')[1];

  test('holds once, also for two at the same time', async () => {
    const token = await tokenOf('once@acme.example');
    const accept = () => new Browser(service).ask('/invitation', { token, name: 'Once', password: PASSWORD });
    const told = await Promise.all([accept(), accept()]);
    expect(told.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(codeOf(await accept())).toEqual([400, 'INVALID_TOKEN']);
  });

  test('is for its address alone: who is signed in as another, or as nobody, does not join with it', async () => {
    const token = await tokenOf('bob@b.example');
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
    await bob.signIn('bob@b.example');
    expect((await bob.ask('/invitation', { token })).status).toBe(201);
    expect((await bob.ask('/session')).body.data).toMatchObject({
      member: { role: 'viewer' },
      workspace: { id: service.workspaceId },
    });
    expect((await bob.ask('/workspaces')).body.data).toHaveLength(2);
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
});

describe('roles', () => {
  test('nobody gives, changes or takes a role above the own', async () => {
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
    // A test key would open the live environment by making somebody a member.
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
});

test('a test of a template goes to members, and to nobody who is none', async () => {
  const template = { ...{ name: 'Hello', subject: 'Hi', html: '<p>Hi</p>' }, from: 'hello@acme.test' };
  expect((await owner.ask('/live/domains', { name: 'acme.test' })).status).toBe(201);
  const { id } = (await owner.ask('/live/templates', template)).body.data;
  const { email } = await inviteMember(service, owner, 'viewer');
  const send = (to: string) => owner.ask(`/live/templates/${id}/test-send`, { to: [to] });
  expect(codeOf(await send(email.toUpperCase()))).toEqual([200, undefined]);
  expect(codeOf(await send('stranger@b.example'))).toEqual([403, 'FORBIDDEN']);
});

test('the audit log tells who did what, by name and by request, and holds no secret', async () => {
  const key = { name: 'Logged', env: 'live', permissions: ['emails:read'] };
  const made = await owner.ask('/live/api-keys', key);
  const { data } = (await owner.ask('/live/audit-log')).body;
  expect(data[0]).toMatchObject({
    actor: { type: 'member', name: expect.stringContaining('Ada') },
    action: 'apiKey.created',
    target: { type: 'apiKey', id: expect.stringMatching(/^key_/) },
    ...{ details: key, requestId: made.headers.get('x-request-id') },
  });
  for (const action of ['member.roleChanged', 'member.removed', 'invitation.created', 'session.opened']) {
    const found = (await owner.ask(`/live/audit-log?action=${action}&limit=1`)).body.data;
    expect(found.map((entry: { action: string }) => entry.action)).toEqual([action]);
  }
  // Who took all addresses away is worth knowing; who only asked for the headers has none of them.
  const reading = { path: '/v1/contacts/export', key: await service.keyWith('live', ['contacts:read']) };
  expect((await service.ask({ method: 'HEAD', ...reading })).status).toBe(200);
  expect((await owner.ask('/live/contacts/export')).status).toBe(200);
  expect((await owner.ask('/live/audit-log?action=contacts.exported')).body.data).toHaveLength(1);
  const rows = await service.service.database.query('select * from audit_log');
  expect(JSON.stringify(rows)).not.toContain(PASSWORD);
  expect(JSON.stringify(rows)).not.toMatch(/svc_(live|test)_|#token=/);
});
