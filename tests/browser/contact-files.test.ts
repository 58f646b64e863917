import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { asMember, type Dashboard, openDashboard, ownerPage, press } from './dashboard.ts';
import { inspect } from './looks.ts';

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
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
      'Email,First Name,Unsubscribed from all email,Email hard bounce reason,Lead Status\nhs-in@example.com,Ada,,,Open\nhs-out@example.com,Ben,true,,Open\nhs-bounce@example.com,Cy,,UNKNOWN_USER,Open\nhs-odd@example.com,Di,perhaps,,Open\nhs-in@example.com,Ada,,,Closed\n',
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
  // A row of an address that came before is no further contact.
  await page.getByRole('button', { name: 'Import 4 rows' }).waitFor();
  await page.getByText('Updates', { exact: true }).waitFor();
  await inspect(page, 'import-consent-checked');
  await press(page, 'Import 4 rows');
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
  await press(page, `Import ${before.data.length} rows`);
  await heading('Import of contacts');
  await page.getByText('Completed', { exact: true }).waitFor();
  const said = ({ data }: typeof before) =>
    data.map((each) => ({ ...each, updatedAt: null, lastActivityAt: null }));
  expect(said(await asMember<readonly object[]>(page, 'GET', 'test/contacts?limit=100'))).toEqual(
    said(before),
  );
});

const LINES = Array.from({ length: 3 }, (_, at) => `late${at}@example.com`);
/** Chooses a file and checks it. */
async function checkedFile(name: string, environment = 'live'): Promise<void> {
  await page.goto(`${url}/app/${environment}/contacts/import`);
  await page.locator('input[type=file]').setInputFiles({
    name,
    mimeType: 'text/csv',
    buffer: Buffer.from(`email\n${LINES.join('\n')}\n`),
  });
}

test('contacts: an import that cannot start leaves no audience behind, and its next try makes one', async () => {
  await checkedFile('readers.csv');
  const named = 'New audience “readers”';
  await page.getByLabel('Add all contacts to', { exact: true }).selectOption({ label: named });
  await press(page, 'Check file');
  const start = page.getByRole('button', { name: 'Import 3 rows' });
  await start.waitFor();
  const audiences = async () =>
    (await asMember<readonly { name: string }[]>(page, 'GET', 'live/audiences')).data.map(({ name }) => name);
  const begins = /\/app\/api\/live\/contacts\/import\?dryRun=false/;
  const answers = [
    { status: 422, message: 'The file is not readable.' },
    // It may have started: its audience stays, and serves the next try.
    { status: 503, message: 'Not at the moment.' },
    { status: 503, message: 'Still not.' },
    // That one is refused says nothing of the one before.
    { status: 409, message: 'At most 20 imports may wait.' },
  ];
  for (const [index, { status, message }] of answers.entries()) {
    await page.route(begins, (route) => route.fulfill({ status, json: { error: { message } } }));
    await start.click();
    await page.getByText(message).waitFor();
    await page.unroute(begins);
    expect([index, await audiences()]).toEqual([index, status === 422 ? [] : ['readers']]);
  }
  await start.click();
  await page.getByText('Completed', { exact: true }).waitFor();
  expect(await audiences()).toEqual(['readers']);
});

test('contacts: the list of an import has no one before the import is known, and no one else after it', async () => {
  const [latest] = (await asMember<readonly { id: string }[]>(page, 'GET', 'live/contacts/imports')).data;
  await asMember(page, 'POST', 'live/contacts', { email: 'other@example.com' });
  const known = Promise.withResolvers<void>();
  let isRunning = true;
  const listed: string[] = [];
  page.on('request', (request) => {
    if (/\/app\/api\/live\/contacts\?/.test(request.url())) listed.push(new URL(request.url()).search);
  });
  const ofImport = /\/app\/api\/live\/contacts\/imports\/imp_\w+$/;
  await page.route(ofImport, async (route) => {
    await known.promise;
    const reply = await route.fetch();
    const { data } = (await reply.json()) as { data: object };
    await route.fulfill({
      json: { data: { ...data, ...(isRunning && { endedAt: null, status: 'processing' }) } },
    });
  });
  await page.goto(`${url}/app/live/contacts?import=${latest?.id}`);
  await page.getByRole('button', { name: /^Added while the import ran/ }).waitFor();
  expect([listed, await page.getByText('other@example.com').count()]).toEqual([[], 0]);
  known.resolve();
  await page.getByText('This import is still running', { exact: false }).waitFor();
  await page.getByRole('row', { name: /late0@/ }).waitFor();
  // Rows that still come would be left over where the others are deleted.
  expect(await page.getByRole('checkbox').count()).toBe(0);
  isRunning = false;
  // A change tells the page to read the import again, also where the same message names another import.
  await asMember(page, 'POST', 'live/contacts', { email: 'after@example.com' });
  await page.getByRole('checkbox', { name: 'Select late0@example.com' }).waitFor();
  await page.getByText('3 contacts', { exact: true }).waitFor();
  expect(await page.getByText(/(?:other|after)@example\.com/).count()).toBe(0);
  await page.unroute(ofImport);
  // From the list, whose rows the page has read already.
  await page.goto(`${url}/app/live/contacts`);
  await page.getByRole('row', { name: /other@example\.com/ }).waitFor();
  await page.evaluate(
    `history.pushState(null, '', '/app/live/contacts?import=imp_01m7xj1rwzprnwr10308attx')`,
  );
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('row').count()).toBe(0);
});
