import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Browser, codeOf, PASSWORD, setUpOwnerAndSomebody } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// Passwords, cookies and the list of sessions, on the whole service. What a cookie opens is in
// sessions.test.ts.

const OWNER = 'ada@acme.example';
const BOB = 'bob@b.example';
let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService({ SIGNUP: 'open' });
  owner = await setUpOwnerAndSomebody(service, BOB);
});
afterAll(() => service[Symbol.asyncDispose]());

test('answers the same to a wrong password and to an account that does not exist', async () => {
  const wrong = await new Browser(service).signIn(OWNER, 'not this password');
  const unknown = await new Browser(service).signIn('nobody@acme.example', 'not this password');
  const malformed = await new Browser(service).signIn('nonsense', 'not this password');
  expect(codeOf(wrong)).toEqual([401, 'UNAUTHORIZED']);
  expect([unknown.text, malformed.text]).toEqual([wrong.text, wrong.text]);
});

test('gives each sign-in a new session, and never uses one that the browser brought along', async () => {
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
      expect([path, ...codeOf(await owner.ask(path, {}, 'POST', headers))]).toEqual([path, 403, 'FORBIDDEN']);
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
  await foreign.signIn(BOB);
  expect((await foreign.ask(`/account/sessions/${data[0].id}`, {}, 'DELETE')).status).toBe(404);
  expect((await here.ask('/account/sessions', {}, 'DELETE')).status).toBe(204);
  expect((await elsewhere.ask('/session')).status).toBe(401);
  expect((await here.ask('/account/sessions')).body.data).toHaveLength(1);
  owner = here;
});
