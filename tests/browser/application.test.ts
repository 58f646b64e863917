import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { COMMAND } from '../support/service.ts';
import {
  ADA,
  asMember,
  type Dashboard,
  invite,
  openDashboard,
  opens,
  PASSWORD,
  placeOf,
  press,
  pressOn,
  setupLink,
  signIn,
  typeInto,
} from './dashboard.ts';
import { inspect } from './looks.ts';

/** The globals of the page, which this process does not have. */
interface InPage {
  readonly document: {
    querySelector(selector: string): {
      textContent: string;
      click(): void;
      hasAttribute(name: string): boolean;
      getAnimations(): readonly object[];
    };
  };
  readonly MutationObserver: new (
    heard: () => void,
  ) => { observe(node: object, options: { attributeFilter: readonly string[] }): void };
}

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  database = await createTestDatabase();
  dashboard = await openDashboard({ env: { DATABASE_URL: database.url } });
  url = dashboard.service.url;
  page = await dashboard.newcomer();
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  await database?.close();
});

const heading = (name: string, at: Page = page) => at.getByRole('heading', { name }).waitFor();

test('from the printed link to a delivered test email and a key, by keyboard', async () => {
  await page.goto(`${url}/`);
  await heading('No account exists yet');
  await inspect(page, 'nobody');

  await page.goto(await setupLink(dashboard.service));
  await heading('Set up Posthorn');
  expect(page.url()).toBe(`${url}/app/setup`);
  await typeInto(page, { 'Your name': 'Ada Lovelace', 'Email address': 'ada', Password: 'short' });
  await page.keyboard.press('Enter');
  await page.locator('[aria-invalid=true]').first().waitFor();
  // Each wrong field shows its problem, and the first of them has the focus.
  expect(
    await page
      .locator('[aria-invalid=true]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('name'))),
  ).toEqual(['email', 'password']);
  expect(await page.locator(':focus').getAttribute('name')).toBe('email');
  await inspect(page, 'setup-refused');
  await typeInto(page, { 'Email address': ADA, Password: PASSWORD, 'Workspace name': 'Acme' });
  await page.keyboard.press('Enter');
  await heading('First steps');
  expect(placeOf(page)).toBe(`${url}/app/test/start/test`);
  await page.getByText('Test environment: no email leaves this service.').waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await heading('Welcome, Ada Lovelace');
  await press(page, 'Send test email');
  await page.getByText('The email arrived.').waitFor();

  // A click is answered before the page that it leads to is drawn.
  const answered = await page.evaluate(
    () =>
      new Promise((done) => {
        const { document, MutationObserver } = globalThis as unknown as InPage;
        const link = document.querySelector('nav[aria-label="Pages"] a[href$="/emails"]');
        new MutationObserver(() =>
          done({
            heading: document.querySelector('main h1').textContent,
            isLeaving: document.querySelector('main').hasAttribute('data-leaving'),
            // A page that fades is painted as a whole before the click is answered.
            fading: document.querySelector('main').getAnimations().length,
          }),
        ).observe(link, { attributeFilter: ['aria-current'] });
        link.click();
      }),
  );
  expect(answered).toEqual({ heading: 'Welcome, Ada Lovelace', isLeaving: true, fading: 0 });
  await heading('Emails');
  expect(await page.locator('main[data-leaving]').count()).toBe(0);

  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.getByText('First test key', { exact: true }).waitFor();
  await page.keyboard.press('c');
  await typeInto(page, { Name: ' ' });
  await press(page, 'Create API key');
  await page.locator('[name=name][aria-invalid=true]').waitFor();
  await inspect(page, 'key-refused');
  await typeInto(page, { Name: 'Checkout' });
  await press(page, 'Create API key');
  const key = (await page.locator('pre').first().textContent()) ?? '';
  expect(key).toStartWith('svc_test_');
  expect(await page.locator('pre').last().textContent()).toContain(key);
  await inspect(page, 'key-made');
  // A secret that is shown only once is closed by its button alone. Chrome lets no page keep a second Escape
  // but by taking the key.
  for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Close' }).count()).toBe(0);
  await page.getByRole('dialog').getByText('It is shown only once.', { exact: false }).waitFor();
  await press(page, 'I have copied it');

  const send = () =>
    fetch(`${url}/v1/emails`, {
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
  const more = async (item: string) => {
    await press(page, 'More actions for Checkout');
    await pressOn(page.getByRole('menuitem', { name: item }));
  };
  await more('Edit permissions');
  await pressOn(page.getByRole('checkbox', { name: 'emails:send' }), 'Space');
  await press(page, 'Save');
  await page.getByText('Permissions of “Checkout” updated').waitFor();
  expect((await send()).status).toBe(403);
  await press(page, 'Undo');
  await eventually('it may send again', async () => (await send()).status === 202 || undefined);
  await more('Revoke key');
  await press(page, 'Cancel');
  expect((await send()).status).toBe(202);
  await inspect(page, 'keys');
  await more('Revoke key');
  await press(page, 'Revoke key');
  await page.getByRole('row', { name: 'Checkout' }).getByText('Revoked').waitFor();
  expect((await send()).status).toBe(401);

  await page.getByLabel('Test', { exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText('Live environment. Email is captured here and not delivered.').waitFor();
  expect(placeOf(page)).toBe(`${url}/app/live/api-keys`);
  await page.getByText('First live key', { exact: true }).waitFor();
  expect(await page.getByRole('row', { name: 'Checkout' }).count()).toBe(0);
});

test('an invitation, a role that reads only, and a session that ended elsewhere', async () => {
  const link = await invite(dashboard, page, 'eve@acme.example', 'viewer');
  const eve = await dashboard.newcomer();
  await eve.goto(link);
  await heading('Join Acme', eve);
  await eve.getByText('Ada Lovelace invites you', { exact: false }).waitFor();
  expect(eve.url()).toBe(`${url}/app/invitation`);
  await inspect(eve, 'invitation');
  await typeInto(eve, { 'Your name': 'Eve', Password: PASSWORD });
  await eve.keyboard.press('Enter');
  await heading('Welcome, Eve', eve);
  await inspect(eve, 'viewer');
  await eve.keyboard.press('g');
  await eve.keyboard.press('k');
  await eve.getByText('First test key', { exact: true }).waitFor();
  expect(await eve.getByRole('button', { name: /Create|More actions for/ }).count()).toBe(0);
  await eve.context().clearCookies();
  await eve.getByLabel('Test', { exact: true }).focus();
  await eve.keyboard.press('ArrowRight');
  await eve.getByText('Your session has ended. Sign in again.').waitFor();
  // The token was used.
  await eve.goto(link);
  await heading('This invitation cannot be accepted', eve);
  await eve.getByRole('alert').filter({ hasText: 'This link was already used' }).waitFor();
  await eve.context().close();
});

const signOut = async () => {
  await press(page, /^Account/);
  await pressOn(page.getByRole('menuitem', { name: 'Sign out' }));
  await page.getByText('You are signed out.').waitFor();
};

/** Holds back the answer to signing out until the connection of the page has closed. */
const LATE_ANSWER = `
  const { fetch, WebSocket: Socket } = window;
  let closed;
  window.WebSocket = class extends Socket {
    constructor(address) {
      super(address);
      closed = new Promise((resolve) => this.addEventListener('close', resolve));
    }
  };
  window.fetch = async (address, given) => {
    const answer = await fetch(address, given);
    if (given?.method === 'DELETE') await closed;
    return answer;
  };`;

test('who signs out reads that they did, where the connection finds the session ended first', async () => {
  const person = await dashboard.newcomer();
  await person.addInitScript(LATE_ANSWER);
  await person.goto(`${url}/app`);
  await signIn(person);
  await heading('Welcome, Ada Lovelace', person);
  const looks: string[] = [];
  person.on('request', (request) => {
    if (request.url().endsWith('/app/api/session')) looks.push(request.method());
  });
  await press(person, /^Account/);
  await pressOn(person.getByRole('menuitem', { name: 'Sign out' }));
  await person.getByText('You are signed out.').waitFor();
  expect(looks).toEqual(['DELETE', 'GET']);
  await person.context().close();
});

test('signing out and in, and a new password by the link that the operator prints', async () => {
  await signOut();
  await inspect(page, 'sign-in');
  await signIn(page, 'wrong');
  await page.getByRole('alert').filter({ hasText: 'The address or the password is wrong.' }).waitFor();
  await signIn(page);
  // After signing in, people are back on the page that they wanted.
  await heading('API keys');

  const printing = Bun.spawn([...COMMAND, 'members', 'reset-password', ADA], {
    stdout: 'pipe',
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: database.url,
      DATA_DIR: dashboard.service.dataDir,
      PROFILE: 'development',
    },
  });
  const link = /\S+\/app\/reset#token=\S+/.exec(await new Response(printing.stdout).text())?.[0] ?? '';
  await page.goto(opens(dashboard.service, link));
  await heading('Choose a new password');
  expect(page.url()).toBe(`${url}/app/reset`);
  await typeInto(page, { Password: 'another horse battery staple' });
  await page.keyboard.press('Enter');
  await page.getByText('Password changed. Sign in with it.').waitFor();
  await signIn(page, 'another horse battery staple');
  await heading('Welcome, Ada Lovelace');

  const { secret } = (await asMember<{ secret: string }>(page, 'POST', 'account/totp', {})).data;
  const step = Math.floor(Date.now() / 30_000);
  await asMember(page, 'POST', 'account/totp/confirm', { code: totpCode(secret, step) });
  await signOut();
  await signIn(page, 'another horse battery staple');
  // The field appears when the service asks for it, and has the focus.
  await page.locator('[name=code]:focus').waitFor();
  await inspect(page, 'code');
  await page.keyboard.insertText(totpCode(secret, step));
  await page.keyboard.press('Enter');
  await page.getByText('Enter a new code of your authenticator').waitFor();
  await page.locator('[name=code]').fill(totpCode(secret, Math.floor(Date.now() / 30_000) + 1));
  await page.keyboard.press('Enter');
  await heading('Welcome, Ada Lovelace');
  expect(dashboard.complaints).toEqual([]);

  // The address of the live view leads a member to the page of the application, without another sign-in.
  await page.goto(`${url}/inspector?kind=email`);
  await page.getByRole('region', { name: 'Machine email' }).waitFor();
  expect(placeOf(page)).toBe(`${url}/app/live/machines?kind=email`);
  await inspect(page, 'machines');
  expect(dashboard.complaints).toEqual([]);
});
