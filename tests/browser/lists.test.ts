import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY } from '../support/service.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  pressOn,
  type Resource,
  typeInto,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect } from './looks.ts';

// Lists: their order, their number, their columns, and actions on several rows, by mouse and by keyboard.

const NAMES = ['dora', 'ada', 'carl', 'bob', 'emma'] as const;
const PEOPLE = 60;

let dashboard: Dashboard;
let page: Page;
let url: string;
beforeAll(async () => {
  dashboard = await openDashboard();
  ({ url } = dashboard.service);
  page = await ownerPage(dashboard);
  await asMember(page, 'POST', 'live/domains', { name: 'acme.test' });
  const others = Array.from({ length: PEOPLE - NAMES.length }, (_, at) => `m${String(at).padStart(2, '0')}`);
  for (const name of [...others, ...NAMES])
    await asMember(page, 'POST', 'live/contacts', { email: `${name}@people.test` });
  await asMember(page, 'POST', 'live/audiences', { name: 'Readers' });
  const live = createClient(url, LIVE_KEY);
  const at = new Date(Date.now() + 3_600_000).toISOString();
  for (const name of NAMES)
    await live.post('/v1/emails', {
      from: 'shop@acme.test',
      to: `${name}@people.test`,
      subject: `Order of ${name}`,
      text: 'Thank you',
      ...(name === 'dora' || name === 'emma' ? { scheduledAt: at } : {}),
    });
  await live.post('/v1/emails', {
    from: 'shop@acme.test',
    to: 'ada@people.test',
    subject: 'With a file',
    text: 'See the file',
    attachments: [{ filename: 'a.txt', content: 'SGk=' }],
  });
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const table = (name: string) => page.getByRole('table', { name });
const firstRow = (name: string, text: RegExp | string) =>
  table(name).locator('tbody tr[aria-rowindex="2"]').filter({ hasText: text }).waitFor();
const column = (name: string) => page.getByRole('columnheader', { name, exact: true });
const search = () => new URL(page.url()).search;
const box = (name: string | RegExp) => page.getByRole('checkbox', { name });
const dialog = () => page.getByRole('dialog');
const bar = (name: string) =>
  page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name });
const openContacts = async (query = '') => {
  await page.goto(`${url}/app/live/contacts${query}`);
  await table('Contacts').locator('tbody tr[aria-rowindex="2"]').waitFor();
};
const list = async <Item = Readonly<Record<string, string>>>(path: string): Promise<readonly Item[]> =>
  (await asMember<readonly Item[]>(page, 'GET', `live/${path}`)).data;

test('a heading sorts the list, by mouse and by keyboard, and the address keeps the order', async () => {
  await openContacts();
  await firstRow('Contacts', 'emma@people.test');
  await page.getByText(`${PEOPLE} contacts`, { exact: true }).waitFor();
  await inspect(page, 'contacts-counted');
  await page.getByRole('button', { name: 'Contact', exact: true }).click();
  await firstRow('Contacts', 'ada@people.test');
  expect([search(), await column('Contact').getAttribute('aria-sort')]).toEqual(['?sort=email', 'ascending']);
  await press(page, /^Contact$/);
  await firstRow('Contacts', 'm54@people.test');
  expect([search(), await column('Contact').getAttribute('aria-sort')]).toEqual([
    '?sort=-email',
    'descending',
  ]);
  await page.reload();
  await firstRow('Contacts', 'm54@people.test');
  // The file is what the list is.
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    (async () => {
      await press(page, 'More actions');
      await pressOn(page.getByRole('menuitem', { name: 'Export all as CSV' }));
    })(),
  ]);
  const rows = readFileSync(await download.path(), 'utf8').split('\r\n');
  expect([rows[1], rows[PEOPLE]].map((row) => row?.split(',')[1])).toEqual([
    'm54@people.test',
    'ada@people.test',
  ]);
  await press(page, /^Added$/);
  await firstRow('Contacts', 'emma@people.test');
  expect(search()).toBe('');
  await press(page, /^Added$/);
  await firstRow('Contacts', 'm00@people.test');
  expect(search()).toBe('?sort=createdAt');
});

test('an order is saved as a view, and read page by page without a gap', async () => {
  await openContacts('?sort=email');
  await press(page, 'Views');
  await pressOn(page.getByRole('menuitem', { name: 'Save these filters…' }));
  await typeInto(page, { Name: 'By address' });
  await press(page, 'Save view');
  await waitForToast(page, 'View “By address” saved');
  await withoutDialog(page);
  await openContacts();
  await press(page, 'Views');
  await pressOn(page.getByRole('menuitem', { name: 'By address' }));
  await firstRow('Contacts', 'ada@people.test');
  // The second page follows the first: the last of all is the last row.
  await table('Contacts').locator('[data-row]').first().focus();
  await page.keyboard.press('End');
  await page.keyboard.press('End');
  await eventually('the last row', async () => {
    await page.keyboard.press('End');
    return (await page.locator('[data-row]:focus').textContent())?.includes('m54@') || undefined;
  });
  expect(await page.locator('[data-row]:focus').getAttribute('data-row')).toBe(String(PEOPLE - 1));
});

test('a page that is refused while all are selected ends it, and says so', async () => {
  await openContacts();
  await page.getByText(`${PEOPLE} contacts`, { exact: true }).waitFor();
  const further = /\/app\/api\/live\/contacts\?.*after=/;
  let asked = 0;
  await page.route(further, async (route) => {
    asked++;
    await route.fulfill({ status: 403, json: { error: { message: 'Your role has changed.' } } });
  });
  await openContacts();
  await box('Select all loaded rows').click();
  await page.getByText('50 selected').waitFor();
  await press(page, /^Select all, up to/);
  await page
    .locator('[data-toast]')
    .getByText('Only the 50 loaded rows are selected: the rest could not be read. Your role has changed.')
    .waitFor();
  await page.getByRole('alert').getByText('Your role has changed.').waitFor();
  // Neither the rows in sight nor the selection ask on and on.
  const before = asked;
  await box('Select emma@people.test').click();
  await page.getByText('49 selected').waitFor();
  expect(asked).toBe(before);
  await box('Select emma@people.test').click();
  await page.unroute(further);
  await press(page, /^Select all, up to/);
  await page.getByText(`${PEOPLE} selected`).waitFor();
  await press(page, 'Clear selection');
});

test('columns are chosen with the keyboard, and stay chosen in this browser', async () => {
  await openContacts();
  await press(page, 'Columns');
  const updated = page.getByRole('menuitemcheckbox', { name: 'Updated' });
  await pressOn(updated);
  expect(await updated.getAttribute('aria-checked')).toBe('true');
  await pressOn(page.getByRole('menuitemcheckbox', { name: 'Last active' }));
  await page.keyboard.press('Escape');
  for (const look of ['chosen', 'chosen before a reload']) {
    await column('Updated').waitFor();
    expect([look, await column('Last active').count()]).toEqual([look, 0]);
    await page.reload();
  }
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Updated' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Last active' }).click();
  await page.keyboard.press('Escape');
  await column('Last active').waitFor();
  expect(await column('Updated').count()).toBe(0);
});

test('contacts are selected, saved as a file, added to an audience, and taken out again by undo', async () => {
  await openContacts('?sort=email');
  for (const name of ['ada', 'bob']) await box(`Select ${name}@people.test`).click();
  await pressOn(box('Select carl@people.test'), 'Space');
  await page.getByText('3 selected').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), pressOn(bar('Export selected'))]);
  const rows = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect([download.suggestedFilename(), rows.length, rows[0]?.includes('email')]).toEqual([
    'contacts-live.csv',
    4,
    true,
  ]);
  const [noted] = await list<{ action: string; details: object }>('audit-log?action=contacts.exported');
  expect(noted?.details).toEqual({ selected: true, environment: 'live', rows: 3 });
  await pressOn(bar('Add to audience'));
  await dialog().getByLabel('Audience').selectOption({ label: 'Readers' });
  await pressOn(dialog().getByRole('button', { name: 'Add contacts' }));
  await waitForToast(page, '3 added');
  await withoutDialog(page);
  const [readers] = await list<Resource>('audiences');
  expect(await list(`audiences/${readers?.id}/contacts`)).toHaveLength(3);
  await press(page, 'Undo');
  await waitForToast(page, '3 removed again');
  expect(await list(`audiences/${readers?.id}/contacts`)).toEqual([]);
});

test('contacts are suppressed and deleted, one by one, with their progress', async () => {
  await openContacts('?sort=email');
  await box('Select ada@people.test').click();
  await bar('Suppress').click();
  await dialog().getByRole('button', { name: 'Suppress' }).click();
  await waitForToast(page, '1 suppressed');
  await withoutDialog(page);
  expect((await list('suppressions')).map(({ address }) => address)).toEqual(['ada@people.test']);
  await openContacts('?search=m0');
  await pressOn(box('Select all loaded rows'), 'Space');
  await page.getByText('10 selected').waitFor();
  await pressOn(bar('Delete contacts'));
  await inspect(page, 'contacts-bulk');
  // The first is deleted, and the second waits for the test: the dialog says so meanwhile.
  let asked = 0;
  const { promise: isSeen, resolve: goOn } = Promise.withResolvers<void>();
  await page.route(/\/app\/api\/live\/contacts\/con_\w+/, async (route) => {
    if (route.request().method() === 'DELETE' && ++asked > 1) await isSeen;
    await route.continue();
  });
  await pressOn(dialog().getByRole('button', { name: 'Delete contacts' }));
  await dialog().getByRole('status').getByText('1 of 10').waitFor();
  goOn();
  await waitForToast(page, '10 deleted');
  await page.unroute(/\/app\/api\/live\/contacts\/con_\w+/);
  expect(await list('contacts?search=m0')).toEqual([]);
});

test('a bulk action names what it could not change, and keeps the rows selected', async () => {
  await openContacts('?search=m1');
  await box('Select all loaded rows').click();
  await bar('Delete contacts').click();
  await page.route(/\/app\/api\/live\/contacts\/con_\w+/, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    await route.fulfill({ status: 503, json: { error: { message: 'The database is away.' } } });
  });
  await dialog().getByRole('button', { name: 'Delete contacts' }).click();
  await dialog().getByText('10 of 10, 10 failed').waitFor();
  await dialog().getByRole('list', { name: 'Failed' }).getByText('The database is away.').first().waitFor();
  await page.unroute(/\/app\/api\/live\/contacts\/con_\w+/);
  await dialog().getByText('Close', { exact: true }).click();
  await withoutDialog(page);
  await page.getByText('10 selected').waitFor();
  await press(page, 'Clear selection');
  expect(await page.getByText('10 selected').count()).toBe(0);
});

test('scheduled emails are cancelled, and others sent again, but for those with a file', async () => {
  await page.goto(`${url}/app/live/emails`);
  await firstRow('Emails', 'With a file');
  await page.getByText('6 emails', { exact: true }).waitFor();
  await pressOn(box('Select all loaded rows'), 'Space');
  await pressOn(bar('Cancel scheduled'));
  await dialog().getByText('4 of the selected emails are not scheduled', { exact: false }).waitFor();
  await pressOn(dialog().getByRole('button', { name: 'Cancel emails' }));
  await waitForToast(page, '2 cancelled');
  await withoutDialog(page);
  expect(await list('emails?status=cancelled')).toHaveLength(2);
  for (const text of [/bob@people/, /carl@people/]) await box(text).first().click();
  await page
    .getByRole('row', { name: /With a file/ })
    .getByRole('checkbox')
    .click();
  await bar('Resend').click();
  const read: string[] = [];
  const note = (request: Request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET' && pathname.startsWith('/app/api/')) read.push(pathname);
  };
  await dialog().getByRole('button', { name: 'Resend emails' }).waitFor();
  page.on('request', note);
  await dialog().getByRole('button', { name: 'Resend emails' }).click();
  await dialog().getByText('3 of 3, 1 failed').waitFor();
  await eventually('the list is read again', async () => read.includes('/app/api/live/emails') || undefined);
  page.off('request', note);
  await dialog().getByText('Its attachments are not sent again', { exact: false }).waitFor();
  await dialog().getByText('Close', { exact: true }).click();
  await withoutDialog(page);
  const again = await list('emails?subject=Order%20of%20bob');
  expect(again).toHaveLength(2);
  const bodies = await Promise.all(
    again.map(async ({ id }) => {
      const { data } = await asMember<Record<string, string>>(page, 'GET', `live/emails/${id}`);
      return [data.text, data.subject, data.to, data.from];
    }),
  );
  expect(bodies[0]).toEqual(bodies[1]);
});

test('the recipients of emails are suppressed, and suppressions removed', async () => {
  await page.goto(`${url}/app/live/emails?subject=carl`);
  await box(/carl@people/)
    .first()
    .click();
  await bar('Suppress recipients').click();
  await dialog().getByRole('button', { name: 'Suppress recipients' }).click();
  await waitForToast(page, '1 suppressed');
  await withoutDialog(page);
  await page.goto(`${url}/app/live/suppressions?sort=address`);
  await firstRow('Suppressed addresses', 'ada@people.test');
  await pressOn(box('Select all loaded rows'), 'Space');
  await pressOn(bar('Remove suppressions'));
  await pressOn(dialog().getByRole('button', { name: 'Remove suppressions' }));
  await waitForToast(page, '2 removed');
  expect(await list('suppressions')).toEqual([]);
  expect(dashboard.complaints).toEqual([]);
});

test('a suppression beside which the person has unsubscribed shows both, and leaves that', async () => {
  const address = 'twice@people.test';
  for (const reason of ['unsubscribed', 'manual'])
    await asMember(page, 'POST', 'live/suppressions', { address, reason });
  await page.goto(`${url}/app/live/suppressions`);
  await firstRow('Suppressed addresses', /Manual.*Unsubscribed/);
  await inspect(page, 'suppressions-two-reasons');
  await press(page, `Remove suppression of ${address}`);
  await dialog().getByText('The recipient has also unsubscribed.', { exact: false }).waitFor();
  await inspect(page, 'suppressions-remove-one');
  await pressOn(dialog().getByRole('button', { name: 'Remove suppression', exact: true }));
  await waitForToast(page, `Suppression of ${address} removed`);
  await withoutDialog(page);
  await firstRow('Suppressed addresses', /^(?!.*Manual).*Unsubscribed/);
  expect(await list('suppressions')).toMatchObject([{ address, reason: 'unsubscribed', otherReasons: [] }]);
});
