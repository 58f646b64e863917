import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Browser, codeOf, inviteMember, ORIGIN, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// The routes of the API as members ask them, and what the audit log says of who asked.

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service[Symbol.asyncDispose]());

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
});

test('a test of a template goes to members alone', async () => {
  const template = { name: 'Hello', subject: 'Hi', html: '<p>Hi</p>', from: 'hello@acme.test' };
  expect((await owner.ask('/live/domains', { name: 'acme.test' })).status).toBe(201);
  const { id } = (await owner.ask('/live/templates', template)).body.data;
  const { email } = await inviteMember(service, owner, 'viewer');
  const send = (to: string) => owner.ask(`/live/templates/${id}/test-send`, { to: [to] });
  expect(codeOf(await send(email.toUpperCase()))).toEqual([200, undefined]);
  expect(codeOf(await send('stranger@b.example'))).toEqual([403, 'FORBIDDEN']);
});

test('an admin changes nothing of an owner, not even the language of their emails', async () => {
  const { id: adminId, browser: admin } = await inviteMember(service, owner, 'admin');
  const ownerNow = async () =>
    (await owner.ask('/live/members')).body.data.find(({ role }: { role: string }) => role === 'owner');
  const { id: ofOwner } = await ownerNow();
  expect(codeOf(await admin.ask(`/live/members/${ofOwner}`, { language: 'ja' }, 'PATCH'))).toEqual([
    403,
    'FORBIDDEN',
  ]);
  const key = await service.keyWith('live', ['members:write']);
  const byKey = { method: 'PATCH', path: `/v1/members/${ofOwner}`, key, body: { language: 'ja' } };
  expect((await service.ask(byKey)).status).toBe(403);
  expect((await ownerNow()).language).toBeNull();
  // Their own, and that of others up to their role, they may.
  for (const by of [admin, owner])
    expect((await by.ask(`/live/members/${adminId}`, { language: 'de' }, 'PATCH')).status).toBe(200);
  expect((await owner.ask(`/live/members/${adminId}`, {}, 'DELETE')).status).toBe(204);
});

test('the audit log tells who did what, by name and by request, and holds no secret', async () => {
  const { id } = await inviteMember(service, owner, 'viewer');
  expect((await owner.ask(`/live/members/${id}`, { role: 'member' }, 'PATCH')).status).toBe(200);
  expect((await owner.ask(`/live/members/${id}`, {}, 'DELETE')).status).toBe(204);
  const key = { name: 'Logged', env: 'live', permissions: ['emails:read'] };
  const made = await owner.ask('/live/api-keys', key);
  const { data } = (await owner.ask('/live/audit-log')).body;
  expect(data[0]).toMatchObject({
    actor: { type: 'member', name: expect.stringContaining('Ada') },
    action: 'apiKey.created',
    target: { type: 'apiKey', id: expect.stringMatching(/^key_/) },
    details: key,
    requestId: made.headers.get('x-request-id'),
  });
  for (const action of ['member.changed', 'member.removed', 'invitation.created', 'session.opened']) {
    const found = (await owner.ask(`/live/audit-log?action=${action}&limit=1`)).body.data;
    expect(found.map((entry: { action: string }) => entry.action)).toEqual([action]);
  }
  // A download of all addresses is worth an entry; a request for the headers alone is not.
  const reading = { path: '/v1/contacts/export', key: await service.keyWith('live', ['contacts:read']) };
  expect((await service.ask({ method: 'HEAD', ...reading })).status).toBe(200);
  expect((await owner.ask('/live/contacts/export')).status).toBe(200);
  expect((await owner.ask('/live/audit-log?action=contacts.exported')).body.data).toHaveLength(1);
  const rows = await service.service.database.query('select * from audit_log');
  expect(JSON.stringify(rows)).not.toContain(PASSWORD);
  expect(JSON.stringify(rows)).not.toMatch(/svc_(live|test)_|#token=/);
});
