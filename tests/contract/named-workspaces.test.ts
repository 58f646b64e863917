import { afterAll, beforeAll, expect, test } from 'bun:test';
import { forMembers } from '../../src/http/request/route.ts';
import type { PageMessage } from '../../src/web/live/model.ts';
import { eventually } from '../support/eventually.ts';
import { Browser, codeOf, inviteMember, ORIGIN, setUpOwner } from './a-browser.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Each page names its workspace, so one session works in several at once; each request checks the membership
// there.

let service: RealService;
let owner: Browser;
let first: string;
let second: string;
beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
  first = service.workspaceId;
  second = (await owner.ask('/workspaces', { name: 'Globex' })).body.data.id;
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** A request of a page that shows that workspace. */
const within = (id: string, path: string, body?: unknown, browser = owner) =>
  browser.ask(path, body, body === undefined ? 'GET' : 'POST', { 'x-svc-workspace': id });

test('one session reads and writes in two workspaces by turns', async () => {
  for (const [id, name] of [
    [first, 'a@first.example'],
    [second, 'b@second.example'],
  ] as const)
    expect((await within(id, '/test/contacts', { email: name })).status).toBe(201);
  const addresses = async (id: string) =>
    (await within(id, '/test/contacts')).body.data.map(({ email }: { email: string }) => email);
  expect(await Promise.all([addresses(first), addresses(second), addresses(first)])).toEqual([
    ['a@first.example'],
    ['b@second.example'],
    ['a@first.example'],
  ]);
  expect((await within(second, '/session')).body.data.workspace).toMatchObject({
    id: second,
    name: 'Globex',
  });
});

test('the last workspace that a page opened is that of a request which names none, and of the next sign-in', async () => {
  await within(second, '/session');
  expect((await owner.ask('/session')).body.data.workspace.id).toBe(second);
  await within(first, '/session');
  expect((await owner.ask('/session')).body.data.workspace.id).toBe(first);
  const again = new Browser(service);
  expect((await again.signIn('ada@acme.example')).status).toBe(200);
  expect((await again.ask('/session')).body.data.workspace.id).toBe(first);
});

test('no route answers a person who is no member of the workspace, or names one that does not exist', async () => {
  const { browser: stranger } = await inviteMember(service, owner, 'admin');
  expect((await within(first, '/session', undefined, stranger)).status).toBe(200);
  const own = ['/session', '/workspaces', '/time-zones', '/account/sessions'].map((path) => ({
    method: 'GET',
    path: `/app/api${path}`,
  }));
  const routes = [...ROUTES.flatMap(forMembers), ...own];
  expect(routes.length).toBeGreaterThan(100);
  for (const { method, path } of routes) {
    const told = await stranger.ask(
      path.slice('/app/api'.length).replace(/:\w+/g, 'x'),
      method === 'GET' ? undefined : {},
      method,
      { 'x-svc-workspace': second },
    );
    expect([path, ...codeOf(told)]).toEqual([path, 404, 'NOT_FOUND']);
    expect(told.body.error.message).toStartWith('There is no such workspace');
  }
  for (const id of [
    'ws_other',
    '',
    "ws_' or true",
    `${first} `.trimEnd().toUpperCase(),
    'ws_0000000000aaaaaaaaaaaaaa',
  ])
    expect(codeOf(await within(id, '/live/emails'))).toEqual([404, 'NOT_FOUND']);
});

test('the role of the named workspace counts, from the next request on', async () => {
  const roleIn = (id: string, role: string) =>
    service.service.database.query(
      "update members set role = $2 where workspace_id = $1 and account_id = (select id from accounts where email_key = 'ada@acme.example')",
      [id, role],
    );
  await roleIn(second, 'viewer');
  const template = { name: 'T', subject: 'S', html: '<p>x</p>' };
  expect(codeOf(await within(second, '/live/templates', template))).toEqual([403, 'FORBIDDEN']);
  expect((await within(first, '/live/templates', template)).status).toBe(201);
  await roleIn(second, 'owner');
  expect((await within(second, '/live/templates', template)).status).toBe(201);
});

test('a link to a file names the workspace in its query; a change does not', async () => {
  const file = async (id: string) => (await owner.ask(`/test/contacts/export?workspace=${id}`)).text;
  expect(await file(first)).toContain('a@first.example');
  expect(await file(second)).not.toContain('a@first.example');
  expect(codeOf(await owner.ask('/test/contacts/export?workspace=ws_other'))).toEqual([404, 'NOT_FOUND']);
  expect(codeOf(await owner.ask(`/test/contacts?limit=1&workspace=${first}`))).toEqual([200, undefined]);
  const changed = await owner.ask(`/test/contacts?workspace=${second}`, { email: 'c@first.example' });
  expect(codeOf(changed)).toEqual([422, 'VALIDATION_ERROR']);
});

test('a session of a key stays in the workspace of the key', async () => {
  const key = await service.keyWith('test', ['emails:read']);
  const guest = new Browser(service);
  const opened = await service.ask({
    method: 'POST',
    path: '/inspector/api/session',
    body: { key },
    headers: { origin: ORIGIN, 'content-type': 'application/json' },
  });
  guest.cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const asked = (id: string) =>
    service.ask({
      path: '/inspector/api/machines',
      headers: { cookie: guest.cookie, 'x-svc-workspace': id },
    });
  expect((await asked(first)).status).toBe(200);
  expect(codeOf(await asked(second))).toEqual([404, 'NOT_FOUND']);
});

test('pages of two workspaces follow their changes at once, and end with the membership', async () => {
  const { browser, email } = await inviteMember(service, owner, 'viewer');
  await service.service.database.query(
    `insert into members (id, workspace_id, account_id, role, joined_at)
     select 'mem_0000000000bbbbbbbbbbbbbb', $1, id, 'viewer', now() from accounts where email_key = $2`,
    [second, email],
  );
  const follow = (id: string) => {
    const socket = new WebSocket(
      `${service.url.replace('http', 'ws')}/app/api/test/changes?workspace=${id}`,
      { headers: { cookie: browser.cookie, origin: ORIGIN } } as never,
    );
    const heard: string[] = [];
    socket.onmessage = ({ data }) => void heard.push(String(data));
    const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('It was refused.'));
    const { promise: closed, resolve: close } = Promise.withResolvers<number>();
    socket.onclose = ({ code }) => close(code);
    return { opened, closed, heard, socket };
  };
  const [one, other] = [follow(first), follow(second)];
  await Promise.all([one.opened, other.opened]);
  const { id } = (await within(second, '/test/contacts', { email: 'news@second.example' })).body.data;
  await eventually('the change', async () => other.heard.find((text) => text.includes(id)));
  expect(one.heard.some((text) => text.includes(id))).toBeFalse();
  const message: PageMessage = { type: 'watch', id: null };
  one.socket.send(JSON.stringify(message));
  await owner.ask('/live/members/mem_0000000000bbbbbbbbbbbbbb', {}, 'DELETE', { 'x-svc-workspace': second });
  expect(await other.closed).toBe(4_401);
  expect(codeOf(await within(second, '/test/contacts', undefined, browser))).toEqual([404, 'NOT_FOUND']);
  expect((await within(first, '/test/contacts', undefined, browser)).status).toBe(200);
  one.socket.close();
});
