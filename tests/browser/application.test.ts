import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { totpCode } from '../../src/auth/totp.ts';
import { openPack } from '../../src/dashboard/pack.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

const ARTEFACTS = join(import.meta.dir, '../artefacts/application');
const LOOKS = [
  [1440, 900, 'light'],
  [768, 1_024, 'light'],
  [390, 844, 'light'],
  [390, 844, 'dark'],
] as const;
const PASSWORD = 'correct horse battery staple';
const ADA = 'ada@acme.example';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: Service;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  mkdirSync(ARTEFACTS, { recursive: true });
  await openPack();
  database = await createTestDatabase();
  [service, browser] = await Promise.all([
    startService({ env: { DATABASE_URL: database.url, RATE_LIMIT_PER_IP: '0' } }),
    openChromium(),
  ]);
  page = await newcomer();
});
afterAll(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
  await database?.close();
});

/** A browser of its own. What it complains about (the policy, a script) fails the last test. */
async function newcomer(): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en' });
  // Laying a page out takes its time on a busy machine; what hangs is ended by the test's own time.
  context.setDefaultTimeout(0);
  context.setDefaultNavigationTimeout(0);
  const opened = await context.newPage();
  opened.on('pageerror', ({ message }) => complaints.push(message));
  opened.on('console', (message) => {
    const isRefusal = message.text().includes('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  opened.on('request', (request) => {
    if (!request.url().startsWith(service.url)) complaints.push(request.url());
    if (request.url().includes('/view-')) complaints.push('the code of the live view was loaded');
  });
  return opened;
}

/** Looks at the page at every width, and in the dark at the narrowest: no rule of accessibility is broken, nothing runs out of it sideways. */
async function inspect(name: string, at: Page = page): Promise<void> {
  await at.evaluate(axe.source);
  for (const [width, height, colorScheme] of LOOKS) {
    await at.setViewportSize({ width, height });
    await at.emulateMedia({ colorScheme });
    const violations = await at.evaluate(`axe.run(document, {
      resultTypes: ['violations'],
      rules: { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } },
    }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)))`);
    await at.screenshot({ path: join(ARTEFACTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    expect([name, width, colorScheme, violations]).toEqual([name, width, colorScheme, []]);
    const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect([name, width, await at.evaluate(sideways)]).toEqual([name, width, 0]);
  }
}

/** Types into one field after the other, as somebody without a mouse. */
async function typeInto(texts: Readonly<Record<string, string>>, at: Page = page): Promise<void> {
  const [first = ''] = Object.keys(texts);
  await at.getByLabel(first, { exact: true }).focus();
  for (const [label, text] of Object.entries(texts)) {
    const focused = at.locator(':focus');
    expect(await focused.getAttribute('id')).toBe(
      await at.getByLabel(label, { exact: true }).getAttribute('id'),
    );
    await focused.fill(text);
    await at.keyboard.press('Tab');
  }
}

const press = async (name: string | RegExp, at: Page = page) => {
  await at.getByRole('button', { name }).focus();
  await at.keyboard.press('Enter');
};

/** Asks the API of the dashboard as who is signed in on that page. */
const asMember = (path: string, body: object) =>
  page.evaluate(
    ([to, json]) =>
      fetch(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: json }).then(
        (reply) => reply.json(),
      ),
    [`/app/api/${path}`, JSON.stringify(body)] as const,
  ) as Promise<{ data: { url: string; secret: string } }>;

const opens = (link: string) => service.url + link.slice(link.indexOf('/app/'));

test('from the printed link to a delivered test email and a key, by keyboard', async () => {
  await page.goto(`${service.url}/`);
  await page.getByRole('heading', { name: 'Nobody has an account here yet' }).waitFor();
  await inspect('nobody');

  const link = /\S+\/app\/setup#token=\S+/.exec(service.output())?.[0] ?? '';
  await page.goto(opens(link));
  await page.getByRole('heading', { name: 'Set up Posthorn' }).waitFor();
  expect(page.url()).toBe(`${service.url}/app/setup`);
  await typeInto({ 'Your name': 'Ada Lovelace', 'Email address': 'ada', Password: 'short' });
  await page.keyboard.press('Enter');
  await page.locator('[aria-invalid=true]').first().waitFor();
  // What is wrong is told at each field, and the first of them has the focus.
  expect(
    await page
      .locator('[aria-invalid=true]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('name'))),
  ).toEqual(['email', 'password']);
  expect(await page.locator(':focus').getAttribute('name')).toBe('email');
  await inspect('setup-refused');
  await typeInto({ 'Email address': ADA, Password: PASSWORD, 'Workspace name': 'Acme' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
  expect(page.url()).toBe(`${service.url}/app`);
  await page.getByText('Test environment: nothing leaves this service.').waitFor();

  await press('Send a test email');
  await page.getByText('It has arrived.').waitFor();

  await typeInto({ 'Name of the new key': ' ' });
  await press('Create a test key');
  await page.locator('[name=name][aria-invalid=true]').waitFor();
  await typeInto({ 'Name of the new key': 'Checkout' });
  await press('Create a test key');
  const key = (await page.locator('pre').first().textContent()) ?? '';
  expect(key).toStartWith('svc_test_');
  expect(await page.locator('pre').last().textContent()).toContain(key);
  await inspect('home');

  const send = () =>
    fetch(`${service.url}/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: 'a@example.com',
        to: 'delivered@simulator.svc.test',
        subject: 'x',
        text: 'x',
      }),
    });
  expect((await send()).status).toBe(202);
  await press('Revoke Checkout');
  await inspect('revoke');
  await press('Keep it');
  expect((await send()).status).toBe(202);
  await press('Revoke Checkout');
  await press('Revoke the key');
  await page.locator('[data-key]', { hasText: 'Checkout' }).getByText('Revoked').waitFor();
  expect((await send()).status).toBe(401);

  await page.getByLabel('Test', { exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText('Live environment: email goes to real people.').waitFor();
  await page.getByText('First live key', { exact: true }).waitFor();
  expect(await page.locator('[data-key]', { hasText: 'Checkout' }).count()).toBe(0);
  await inspect('live');
});

test('an invitation, a role that reads only, and a session that ended elsewhere', async () => {
  const { url } = (await asMember('live/members/invitations', { email: 'eve@acme.example', role: 'viewer' }))
    .data;
  const eve = await newcomer();
  await eve.goto(opens(url));
  await eve.getByRole('heading', { name: 'You are invited to Posthorn' }).waitFor();
  expect(eve.url()).toBe(`${service.url}/app/invitation`);
  await inspect('invitation', eve);
  await typeInto({ 'Your name': 'Eve', Password: PASSWORD }, eve);
  await eve.keyboard.press('Enter');
  await eve.getByRole('heading', { name: 'Welcome, Eve' }).waitFor();
  await eve.getByText('First test key', { exact: true }).waitFor();
  expect(
    await eve.getByRole('button').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
  ).toEqual(['Theme: system', 'Sign out']);
  await inspect('viewer', eve);
  await eve.context().clearCookies();
  await eve.getByLabel('Test', { exact: true }).focus();
  await eve.keyboard.press('ArrowRight');
  await eve.getByText('Your session has ended. Sign in again.').waitFor();
  // The token was used.
  await eve.goto(opens(url));
  await typeInto({ 'Your name': 'Eve', Password: PASSWORD }, eve);
  await eve.keyboard.press('Enter');
  await eve.getByRole('alert').filter({ hasText: 'This link was used before' }).waitFor();
  await eve.context().close();
});

test('signing out and in, and a new password by the link that the operator prints', async () => {
  await press('Sign out');
  await page.getByText('You are signed out.').waitFor();
  await inspect('sign-in');
  const signIn = async (password: string) => {
    await typeInto({ 'Email address': ADA, Password: password });
    await page.keyboard.press('Enter');
  };
  await signIn('wrong');
  await page.getByRole('alert').filter({ hasText: 'The address or the password is wrong.' }).waitFor();
  await signIn(PASSWORD);
  await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();

  const printing = Bun.spawn(
    [process.execPath, resolve(import.meta.dir, '../../src/main.ts'), 'members', 'reset-password', ADA],
    {
      stdout: 'pipe',
      env: { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, DATA_DIR: service.dataDir },
    },
  );
  const link = /\S+\/app\/reset#token=\S+/.exec(await new Response(printing.stdout).text())?.[0] ?? '';
  await page.goto(opens(link));
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
  expect(page.url()).toBe(`${service.url}/app/reset`);
  await typeInto({ Password: 'another horse battery staple' });
  await page.keyboard.press('Enter');
  await page.getByText('The new password holds. Sign in with it.').waitFor();
  await signIn('another horse battery staple');
  await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();

  const { secret } = (await asMember('account/totp', {})).data;
  const step = Math.floor(Date.now() / 30_000);
  await asMember('account/totp/confirm', { code: totpCode(secret, step) });
  await press('Sign out');
  await page.getByText('You are signed out.').waitFor();
  await signIn('another horse battery staple');
  // The field appears when the service asks for it, and has the focus.
  await page.locator('[name=code]:focus').waitFor();
  await inspect('code');
  await page.keyboard.insertText(totpCode(secret, step));
  await page.keyboard.press('Enter');
  await page.getByText('The code is wrong, or was used before.').waitFor();
  await page.locator('[name=code]').fill(totpCode(secret, Math.floor(Date.now() / 30_000) + 1));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
  expect(complaints).toEqual([]);

  // The live view opens with the session of a member.
  await page.getByRole('link', { name: 'Watch the machines' }).press('Enter');
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ state: 'attached' });
  expect(complaints.filter((each) => !each.startsWith('the code'))).toEqual([]);
});
