import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import {
  ADA,
  asMember,
  type Dashboard,
  openDashboard,
  PASSWORD,
  setupLink,
  waitForToast,
} from './dashboard.ts';
import { inspect } from './looks.ts';

// A computer in Tokyo, and a workspace in Vancouver, whose rules have changed after the browser was made.

let dashboard: Dashboard;
let url: string;
let page: Page;
let id: string;
/** Nine o'clock in Vancouver, which stays seven hours behind UTC in winter since 2026. */
const NINE = {
  shown: 'Jan 15, 2027, 9:00:00 AM MST',
  local: '2027-01-15T09:00',
  at: '2027-01-15T16:00:00.000Z',
};

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await dashboard.newcomer({ timezoneId: 'Asia/Tokyo' });
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

test('a new workspace begins with the time zone of the computer that makes it', async () => {
  await page.goto(await setupLink(dashboard.service));
  const fields = {
    'Your name': 'Ada Lovelace',
    'Email address': ADA,
    Password: PASSWORD,
    'Workspace name': 'Acme',
  };
  for (const [label, text] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/app/*/test/start/**');
  const { data } = await asMember<{ timeZone: string }>(page, 'GET', 'test/workspace');
  expect(data.timeZone).toBe('Asia/Tokyo');
});

test('the settings offer the zones of the service; all times go by the one that is chosen', async () => {
  await page.goto(`${url}/app/test/settings`);
  const zone = page.getByLabel('Time zone');
  await zone.locator('option[value="America/Vancouver"]').waitFor({ state: 'attached' });
  expect(await zone.inputValue()).toBe('Asia/Tokyo');
  await zone.selectOption('America/Vancouver');
  await inspect(page, 'settings-time-zone');
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await waitForToast(page, 'Settings saved');
  await page
    .getByText(/^[A-Z][a-z]{2} \d+, \d{4}$/)
    .first()
    .waitFor();
});

test('a flow is tried by the clock of the workspace, and tells its moments with their zone', async () => {
  const flow = {
    name: 'Nine',
    trigger: { type: 'manual' },
    entry: 'nine',
    steps: [
      { key: 'nine', type: 'delayUntil', config: { time: '09:00' } },
      { key: 'end', type: 'exit', config: {} },
    ],
    edges: [{ from: 'nine', to: 'end' }],
  };
  id = (await asMember<{ id: string }>(page, 'POST', 'test/flows', flow)).data.id;
  await page.goto(`${url}/app/test/flows/${id}?tab=try`);
  await page.getByLabel('Start', { exact: true }).fill('2027-01-15T08:00');
  await page.getByText('America/Vancouver').first().waitFor();
  await page.getByRole('button', { name: 'Run simulation' }).first().click();
  await page.getByText(NINE.shown).first().waitFor();
  await inspect(page, 'simulation-with-zone');
});

test('an email is scheduled by the clock of the workspace', async () => {
  const inTwoHours = new Date(Date.now() + 7_200_000).toISOString();
  const email = {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Later',
    text: 'x',
    scheduledAt: inTwoHours,
  };
  const { data } = await asMember<{ id: string }>(page, 'POST', 'test/emails', email);
  await page.goto(`${url}/app/test/emails/${data.id}`);
  await page.getByText(/for [A-Z][a-z]{2} \d+, \d{4}, \d+:\d\d:\d\d [AP]M (?:MST|PDT|PST)/).waitFor();
  await page.getByRole('button', { name: 'Reschedule email' }).click();
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Time');
  const local = new Date(Date.parse(inTwoHours) - 7 * 3_600_000).toISOString();
  expect(await field.inputValue()).toBe(local.slice(0, 16));
  await page.getByText('In the workspace time zone, America/Vancouver').waitFor();
  await inspect(page, 'reschedule-with-zone');
  const later = new Date(Date.parse(local) + 3_600_000).toISOString().slice(0, 16);
  await field.fill(later);
  await dialog.getByRole('button', { name: 'Reschedule email' }).click();
  await page.getByText(/Email scheduled for .+ MST/).waitFor();
  const changed = await asMember<{ scheduledAt: string }>(page, 'GET', `test/emails/${data.id}`);
  expect(changed.data.scheduledAt).toBe(new Date(Date.parse(`${later}Z`) + 7 * 3_600_000).toISOString());
  expect(dashboard.complaints).toEqual([]);
});
