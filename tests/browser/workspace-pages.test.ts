import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { totpCode } from '../../src/auth/totp.ts';
import { createClient } from '../support/client.ts';
import { TEST_KEY } from '../support/service.ts';
import {
  asMember,
  type Dashboard,
  inspect,
  openDashboard,
  opens,
  PASSWORD,
  press,
  signUp,
  typeInto,
} from './dashboard.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await dashboard.newcomer();
  await signUp(dashboard, page);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

test('the overview says what fails and what needs somebody', async () => {
  const client = createClient(url, TEST_KEY);
  const email = { from: 'a@example.com', to: 'bounced@simulator.svc.test', subject: 'Invoice', text: 'x' };
  expect((await client.post('/v1/emails', email)).status).toBe(202);
  const hook = await client.post('/v1/webhooks', { url: 'https://hooks.example.invalid', events: ['sent'] });
  await client.patch(`/v1/webhooks/${hook.body.data.id}`, { status: 'disabled' });
  await page.goto(`${url}/app`);
  await heading('Welcome, Ada Lovelace');
  await page
    .getByRole('row', { name: /Invoice/ })
    .getByText('refused it for good', { exact: false })
    .waitFor();
  await page.getByText('hooks.example.invalid is disabled', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'Add your domain' }).waitFor();
  await inspect(page, 'overview');
});

test('settings and brand are saved, and what is wrong is told at its field', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await heading('Settings');
  await typeInto(page, { Name: 'Acme Limited', 'Default sender': 'hello@unverified.example' });
  await press(page, 'Save');
  await page.locator('[name=defaultFrom][aria-invalid=true]:focus').waitFor();
  await inspect(page, 'settings');
  await typeInto(page, { 'Default sender': '' });
  await press(page, 'Save');
  await page.getByText('The settings are saved.').waitFor();
  await page.getByRole('link', { name: 'Brand' }).press('Enter');
  await typeInto(page, { Colour: 'teal' });
  await press(page, 'Save');
  await page.locator('[name="branding/colour"][aria-invalid=true]:focus').waitFor();
  await typeInto(page, { Colour: '#0f766e' });
  await press(page, 'Save');
  await page.getByText('The brand is saved.').waitFor();
  await page
    .getByLabel('Choose a picture')
    .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PNG });
  await page.getByRole('img', { name: 'The logo' }).waitFor();
  await inspect(page, 'brand');
  const { data } = await asMember<{ name: string; branding: { colour: string } }>(
    page,
    'GET',
    'live/workspace',
  );
  expect([data.name, data.branding.colour]).toEqual(['Acme Limited', '#0f766e']);
});

test('somebody is invited, gets another role, taken back by undo, and sees nothing that would be refused', async () => {
  await page.goto(`${url}/app/test/members`);
  await heading('Members');
  await page.keyboard.press('c');
  await typeInto(page, { 'Email address': 'eve@acme.example' });
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await press(page, 'Make the invitation');
  const link = (await page.locator('pre').textContent()) ?? '';
  await press(page, 'Done');
  const eve = await dashboard.newcomer();
  await eve.goto(opens(dashboard.service, link));
  await typeInto(eve, { 'Your name': 'Eve', Password: PASSWORD });
  await eve.keyboard.press('Enter');
  await eve.getByRole('heading', { name: 'Welcome, Eve' }).waitFor();
  await page.reload();
  await press(page, /^Eve:/);
  await page.getByRole('menuitem', { name: 'admin' }).press('Enter');
  await page.getByText('Eve is admin now.').waitFor();
  await press(page, 'Undo');
  await page.getByRole('button', { name: 'Eve: viewer' }).waitFor();
  await inspect(page, 'members');
  // A viewer goes through every page: nothing is offered that changes, and nothing is refused.
  const refused: string[] = [];
  eve.on('response', (reply) => reply.status() === 403 && refused.push(reply.url()));
  for (const path of [
    '',
    'emails',
    'captured',
    'domains',
    'webhooks',
    'api-keys',
    'flows',
    'members',
    'billing',
    'settings',
  ]) {
    await eve.goto(`${url}/app/live/${path}`);
    await eve.locator('main h1').waitFor();
    await eve.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
    expect(await eve.locator('main [data-create], main button[type=submit]').count()).toBe(0);
  }
  await eve.goto(`${url}/app/live/audit-log`);
  await eve.getByRole('heading', { name: 'There is no such page' }).waitFor();
  expect(refused).toEqual([]);
  await eve.context().close();
});

test('plan and usage, and the audit log with its filters', async () => {
  await page.goto(`${url}/app/live/billing`);
  await page.getByRole('heading', { name: 'Plan Free' }).waitFor();
  await inspect(page, 'billing');
  await page.getByRole('link', { name: 'Audit log' }).press('Enter');
  await page
    .getByRole('row', { name: /Ada Lovelace/ })
    .first()
    .waitFor();
  await inspect(page, 'audit-log');
  await page.keyboard.press('/');
  await page.keyboard.insertText('member.roleChanged');
  await page.keyboard.press('Enter');
  await page
    .getByRole('row', { name: /role changed/ })
    .first()
    .waitFor();
  await page
    .getByRole('row', { name: /Workspace/ })
    .first()
    .waitFor({ state: 'detached' });
});

test('an authenticator is set up, and another session is signed out', async () => {
  const second = await dashboard.newcomer();
  await second.goto(`${url}/app`);
  await typeInto(second, { 'Email address': 'ada@acme.example', Password: PASSWORD });
  await second.keyboard.press('Enter');
  await second.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
  await press(page, /^Account/);
  await page.getByRole('menuitem', { name: 'Your account' }).press('Enter');
  await heading('Your account');
  await press(page, 'Set it up');
  const secret = (await page.locator('pre').first().textContent()) ?? '';
  await typeInto(page, { Code: '000000' });
  await press(page, 'Turn it on');
  await page.locator('[name=code][aria-invalid=true]:focus').waitFor();
  await typeInto(page, { Code: totpCode(secret.trim(), Math.floor(Date.now() / 30_000)) });
  await press(page, 'Turn it on');
  await page.getByText('Each of them opens your account once', { exact: false }).waitFor();
  await press(page, 'Close');
  await page.getByRole('button', { name: 'Remove it' }).waitFor();
  await inspect(page, 'account');
  await press(page, 'Sign out everywhere else');
  await page.getByText('You are signed out everywhere else.').waitFor();
  await second.reload();
  await second.getByRole('heading', { name: 'Sign in to Posthorn' }).waitFor();
  await second.context().close();
  expect(dashboard.complaints).toEqual([]);
});
