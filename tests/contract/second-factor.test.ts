import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { resetLink } from '../../src/accounts/members/sign-in/reset.ts';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { confirmEarlier, step } from '../support/earlier-code.ts';
import { createPasskey } from '../support/passkey.ts';
import { Browser, codeOf, inviteMember, ORIGIN, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService({ TRUST_PROXY: '1' });
  owner = await setUpOwner(service);
});
afterAll(() => service[Symbol.asyncDispose]());

describe('a second factor', () => {
  test('from an authenticator: each code once, a step early or late, and recovery codes instead', async () => {
    const { browser, email } = await inviteMember(service, owner, 'member');
    const { secret, uri } = (await browser.ask('/account/totp', {})).body.data;
    expect(uri).toContain(`secret=${secret}`);
    expect((await browser.ask('/account/totp/confirm', { code: '000000' })).status).toBe(422);
    expect((await new Browser(service).signIn(email)).status).toBe(200);
    const { now, confirmed } = await confirmEarlier(secret, (code) =>
      browser.ask('/account/totp/confirm', { code }),
    );
    const { recoveryCodes } = confirmed.body.data;
    expect(recoveryCodes).toHaveLength(10);
    expect((await browser.ask('/account/totp', {})).status).toBe(409);

    const signIn = async (code?: string) => (await new Browser(service).signIn(email, PASSWORD, code)).status;
    expect(await signIn()).toBe(401);
    expect(await signIn(totpCode(secret, now - 1))).toBe(401);
    expect(await signIn(totpCode(secret, now))).toBe(200);
    expect(await signIn(totpCode(secret, now))).toBe(401);
    expect(await signIn(totpCode(secret, now + 9))).toBe(401);
    const together = await Promise.all([
      signIn(totpCode(secret, now + 1)),
      signIn(totpCode(secret, now + 1)),
    ]);
    expect(together.sort()).toEqual([200, 401]);
    expect(await signIn(recoveryCodes[0])).toBe(200);
    expect(await signIn(recoveryCodes[0])).toBe(401);
    expect(await signIn(recoveryCodes[1].toUpperCase().replaceAll('-', ' '))).toBe(200);
    const [stored] = await service.service.database.query<{ all: string }>(
      `select string_agg(a::text, ' ') as all from accounts a`,
    );
    expect(stored?.all).not.toContain(secret);
    expect((await browser.ask('/account/totp', { code: 'wrong' }, 'DELETE')).status).toBe(422);
    expect((await browser.ask('/account/totp', { code: recoveryCodes[2] }, 'DELETE')).status).toBe(204);
    expect(await signIn()).toBe(200);
  });

  test('from a passkey: alone or beside the password, and never for another origin, host, challenge or account', async () => {
    const { browser, email } = await inviteMember(service, owner, 'member');
    const passkey = createPasskey();
    const here = { origin: ORIGIN, host: 'localhost' };
    const challenge = async (who: Browser, path: string): Promise<string> =>
      (await who.ask(path, path.startsWith('/account') ? { password: PASSWORD } : {})).body.data.challenge;
    for (const password of ['not the password', undefined])
      expect((await browser.ask('/account/passkeys/options', { password })).status).toBe(
        password === undefined ? 422 : 403,
      );
    const enrol = async (ceremony: object, who = browser) =>
      who.ask('/account/passkeys', {
        name: 'Telephone',
        response: passkey.enrol({
          challenge: await challenge(who, '/account/passkeys/options'),
          ...here,
          ...ceremony,
        }),
      });
    expect((await enrol({ origin: 'https://evil.example' })).status).toBe(422);
    expect((await enrol({ host: 'evil.example' })).status).toBe(422);
    expect((await enrol({ verified: false })).status).toBe(422);
    expect((await enrol({ challenge: await challenge(owner, '/account/passkeys/options') })).status).toBe(
      422,
    );
    const enrolled = await enrol({});
    expect(enrolled.status).toBe(201);
    expect(enrolled.body.data.recoveryCodes).toHaveLength(10);
    expect((await enrol({}, owner)).status).toBe(422);

    const signIn = async (ceremony: object) => {
      const nobody = new Browser(service);
      const given = { challenge: await challenge(nobody, '/session/passkey/options'), ...here, ...ceremony };
      const told = await nobody.ask('/session/passkey', { response: passkey.signIn(given) });
      return [
        told.status,
        told.status === 200 ? (await nobody.ask('/session')).body.data.account.email : null,
      ];
    };
    expect(await signIn({})).toEqual([200, email]);
    expect(await signIn({ origin: 'https://evil.example' })).toEqual([401, null]);
    expect(await signIn({ host: 'evil.example' })).toEqual([401, null]);
    expect(await signIn({ verified: false })).toEqual([401, null]);
    expect(await signIn({ challenge: await challenge(browser, '/account/passkeys/options') })).toEqual([
      401,
      null,
    ]);
    const nobody = new Browser(service);
    const once = await challenge(nobody, '/session/passkey/options');
    const replayed = { response: passkey.signIn({ challenge: once, ...here }) };
    expect((await nobody.ask('/session/passkey', replayed)).status).toBe(200);
    expect((await new Browser(service).ask('/session/passkey', replayed)).status).toBe(401);

    expect((await new Browser(service).signIn(email)).status).toBe(401);
    const [listed] = (await browser.ask('/account/passkeys')).body.data;
    expect(listed).toMatchObject({ name: 'Telephone', lastUsedAt: expect.any(String) });
    expect((await owner.ask(`/account/passkeys/${listed.id}`, {}, 'DELETE')).status).toBe(404);
    expect((await browser.ask(`/account/passkeys/${listed.id}`, {}, 'DELETE')).status).toBe(204);
    expect((await signIn({}))[0]).toBe(401);
    expect((await new Browser(service).signIn(email)).status).toBe(200);
  });
});

describe('a password', () => {
  test('is changed by who knows the present one, which ends all other sessions', async () => {
    const { browser, email } = await inviteMember(service, owner, 'member');
    const other = new Browser(service);
    await other.signIn(email);
    const put = (current: string, next: string) =>
      browser.ask('/account/password', { current, new: next }, 'PUT');
    expect(codeOf(await put('wrong', 'another long enough one'))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await put(PASSWORD, 'short'))).toEqual([422, 'VALIDATION_ERROR']);
    expect((await put(PASSWORD, 'another long enough one')).status).toBe(204);
    expect((await other.ask('/session')).status).toBe(401);
    expect((await browser.ask('/session')).status).toBe(200);
    expect((await new Browser(service).signIn(email)).status).toBe(401);
    expect((await new Browser(service).signIn(email, 'another long enough one')).status).toBe(200);
  });

  test('is set by a link of the operator, once, and by none that was made before the last change', async () => {
    const { browser, email } = await inviteMember(service, owner, 'member');
    const { database } = service.service;
    const link = async (withoutSecondFactor: boolean) => {
      const deps = { publicUrl: ORIGIN, now: () => Date.now() };
      const made = await resetLink(database, email, withoutSecondFactor, deps);
      expect(made).toMatchObject({ passkeys: 0, hasAuthenticator: true });
      return made?.url.split('#token=')[1] ?? '';
    };
    const { secret } = (await browser.ask('/account/totp', {})).body.data;
    await browser.ask('/account/totp/confirm', { code: totpCode(secret, step()) });
    const [first, second] = [await link(false), await link(false)];
    const set = (token: string, password: string) =>
      new Browser(service).ask('/password-reset', { token, password });
    expect(codeOf(await set('guess', 'another long enough one'))).toEqual([400, 'INVALID_TOKEN']);
    expect((await set(first, 'another long enough one')).status).toBe(200);
    expect((await browser.ask('/session')).status).toBe(401);
    expect(codeOf(await set(first, 'a third long enough one'))).toEqual([400, 'INVALID_TOKEN']);
    expect(codeOf(await set(second, 'a third long enough one'))).toEqual([400, 'INVALID_TOKEN']);
    expect((await new Browser(service).signIn(email, 'another long enough one')).status).toBe(401);
    await set(await link(true), 'a third long enough one');
    expect((await new Browser(service).signIn(email, 'a third long enough one')).status).toBe(200);
    expect(
      await resetLink(database, 'nobody@acme.example', false, { publicUrl: ORIGIN, now: () => 0 }),
    ).toBeNull();
  });
});

test('codes cannot be guessed with the password, nor with a session', async () => {
  const { browser, email } = await inviteMember(service, owner, 'member');
  const { secret } = (await browser.ask('/account/totp', {})).body.data;
  await browser.ask('/account/totp/confirm', { code: totpCode(secret, step()) });
  const statuses: number[] = [];
  for (let guess = 0; guess < 11; guess++) {
    await new Browser(service).signIn(email);
    statuses.push((await new Browser(service).signIn(email, PASSWORD, '000000')).status);
  }
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  expect(statuses.at(-1)).toBe(429);
  const refused = await browser.ask('/account/totp', { code: '000000' }, 'DELETE');
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
});

test('the audit log tells of changed passwords and factors, and holds none of them', async () => {
  const { data } = (await owner.ask('/live/audit-log?limit=100')).body;
  const actions = data.map(({ action }: { action: string }) => action);
  for (const action of [
    'account.passwordChanged',
    'account.totpAdded',
    'account.totpRemoved',
    'account.passkeyAdded',
  ])
    expect([action, actions.includes(action)]).toEqual([action, true]);
  const rows = await service.service.database.query('select * from audit_log');
  expect(JSON.stringify(rows)).not.toContain(PASSWORD);
});

test('the log tells of refused sign-ins and whose address they came from, and holds nothing that was typed', async () => {
  const typed = ['a passphrase in the wrong field', 'a passphrase that is wrong'];
  const browser = new Browser(service);
  const first = await browser.signIn(typed[0] ?? '', typed[1]);
  expect(first.status).toBe(401);
  const { email, browser: member } = await inviteMember(service, owner, 'viewer');
  expect((await browser.signIn(email, typed[1])).status).toBe(401);
  const refusals = service
    .logged()
    .split('\n')
    .filter((line) => line.includes('A sign-in was refused'));
  expect(refusals.length).toBeGreaterThanOrEqual(2);
  for (const line of refusals)
    expect(JSON.parse(line)).toMatchObject({
      client: expect.stringMatching(/^192\.0\.2\./),
      code: expect.any(String),
      requestId: expect.stringMatching(/^req_/),
    });
  // The answer names the line that tells of it.
  expect(refusals.map((line) => JSON.parse(line).requestId)).toContain(first.headers.get('x-request-id'));
  const secrets = [...typed, PASSWORD, email, member.cookie.split('=')[1] ?? ''];
  for (const secret of secrets) expect([secret, service.logged().includes(secret)]).toEqual([secret, false]);
});
