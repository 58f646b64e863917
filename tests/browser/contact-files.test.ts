import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { asMember, type Dashboard, openDashboard, press, signUp } from './dashboard.ts';
import { inspect } from './looks.ts';

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

const heading = (name: string | RegExp, at: Page = page) =>
  at.getByRole('heading', { name }).first().waitFor();

test('contacts: a file of another service says who has left, before anything is written', async () => {
  await page.goto(`${url}/app/test/contacts/import`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'hubspot.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      'Email,First Name,Unsubscribed from all email,Email hard bounce reason,Lead Status\nhs-in@example.com,Ada,,,Open\nhs-out@example.com,Ben,true,,Open\nhs-bounce@example.com,Cy,,UNKNOWN_USER,Open\nhs-odd@example.com,Di,perhaps,,Open\n',
    ),
  });
  const becomes = (column: string) => page.getByLabel(`Target of “${column}”`).inputValue();
  await page.getByLabel('Target of “Email”').waitFor();
  expect(await becomes('Unsubscribed from all email')).toBe('unsubscribed');
  expect(await becomes('Email hard bounce reason')).toBe('bounced');
  expect(await becomes('Lead Status')).toBe('property');
  await page
    .getByRole('region', { name: 'Check this first' })
    .getByText('“perhaps”')
    .or(page.getByText('"perhaps"'))
    .first()
    .waitFor();
  await inspect(page, 'import-consent');
  await press(page, 'Check file');
  await page.getByRole('button', { name: 'Import 3 contacts' }).waitFor();
  await inspect(page, 'import-consent-checked');
  await press(page, 'Import 3 contacts');
  await heading('Import of contacts');
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Not subscribed' }).waitFor();
  await inspect(page, 'import-consent-done');
  const statuses = await Promise.all(
    ['in', 'out', 'bounce'].map(async (name) => {
      const { data } = await asMember<{ status: string }>(
        page,
        'GET',
        `test/contacts/hs-${name}@example.com`,
      );
      return data.status;
    }),
  );
  expect(statuses).toEqual(['subscribed', 'unsubscribed', 'bounced']);
});

test('contacts: what the export writes, the import of the dashboard gives back', async () => {
  const seats = { email: 'seats@example.com', properties: { seats: 3, beta: true, zip: '007' } };
  expect((await asMember(page, 'POST', 'test/contacts', seats)).status).toBe(201);
  const before = await asMember<readonly object[]>(page, 'GET', 'test/contacts?limit=100');
  await page.goto(`${url}/app/test/contacts`);
  const file = await page.evaluate(() => fetch('/app/api/test/contacts/export').then((told) => told.text()));
  await page.goto(`${url}/app/test/contacts/import`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'contacts.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(file),
  });
  await press(page, 'Check file');
  await press(page, `Import ${before.data.length} contacts`);
  await heading('Import of contacts');
  await page.getByText('Completed', { exact: true }).waitFor();
  const said = ({ data }: typeof before) =>
    data.map((each) => ({ ...each, updatedAt: null, lastActivityAt: null }));
  expect(said(await asMember<readonly object[]>(page, 'GET', 'test/contacts?limit=100'))).toEqual(
    said(before),
  );
});
