import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  asMember,
  type Dashboard,
  invite,
  openDashboard,
  ownerPage,
  PASSWORD,
  press,
  pressOn,
  readsAfter,
  typeInto,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
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
const keys = async (...pressed: readonly string[]) => {
  for (const key of pressed) await page.keyboard.press(key);
};

test('contacts: added, changed, found and forgotten by keyboard', async () => {
  await page.goto(`${url}/app/test/contacts`);
  await heading('No test contacts yet');
  await inspect(page, 'contacts-empty');
  await keys('c');
  await typeInto(page, { 'Email address': 'ada', 'First name': 'Ada', 'Last name': 'Lovelace' });
  await press(page, 'Add property');
  await page.getByLabel('Name of property 1').fill('plan');
  await page.getByLabel('Value of property 1').fill('pro');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add contact' }));
  await page.locator('[name=email][aria-invalid=true]:focus').waitFor();
  await page.locator(':focus').fill('ada@example.com');
  await page.keyboard.press('Enter');
  await heading('ada@example.com');
  await page.getByRole('list', { name: 'Timeline' }).getByText('Added').waitFor();
  await press(page, 'More actions');
  await pressOn(page.getByRole('menuitem', { name: 'Record event' }));
  await typeInto(page, { Name: 'order.placed', 'Event properties': 'total = 40' });
  await press(page, 'Record event');
  await page.getByRole('list', { name: 'Timeline' }).getByText('order.placed', { exact: false }).waitFor();
  await press(page, 'Edit contact');
  await page.getByLabel('Value of property 1').fill('team');
  await press(page, 'Save');
  await page.getByText('team', { exact: true }).waitFor();
  await inspect(page, 'contact');
  await press(page, 'Unsubscribe');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Unsubscribe' }));
  await withoutDialog(page);
  await page.getByText(/^Unsubscribed\. Campaigns/).waitFor();
  await press(page, 'Subscribe again');
  await page.getByLabel('Source of consent').fill('by telephone');
  await page.getByLabel('Time of consent').fill('2026-01-02T10:00');
  await inspect(page, 'contact-consent');
  await press(page, 'Record consent');
  await page.getByText('Gets email of campaigns and flows.').waitFor();
});

test('contacts: a file with its columns, a check that writes nothing, and the import', async () => {
  await page.goto(`${url}/app/test/contacts/import`);
  const lines = Array.from({ length: 40 }, (_, at) => `person${at}@example.com;Person ${at};${at};pro`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`E-Mail;Vorname;Alter;plan\n${lines.join('\n')}\nnobody;No;x;pro\n`, 'latin1'),
  });
  await page.getByLabel('Property type for “Alter”').selectOption('number');
  await page.getByLabel('Property name for “Alter”').fill('age');
  await press(page, 'Check file');
  await page.getByRole('button', { name: 'Import 40 rows' }).waitFor();
  await inspect(page, 'import-checked');
  const { data } = await asMember<readonly unknown[]>(page, 'GET', 'test/contacts?limit=5');
  expect(data).toHaveLength(1);
  await press(page, 'Import 40 rows');
  await heading('Import of contacts');
  await page.getByText('Completed', { exact: true }).waitFor();
  await inspect(page, 'import');
  const [mistakes] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download all errors' }).press('Enter'),
  ]);
  expect(mistakes.suggestedFilename()).toEndWith('.csv');
  expect(await Bun.file(await mistakes.path()).text()).toContain('42,1,invalid_email');
  await page.goto(`${url}/app/test/contacts?search=person3`);
  await page.getByRole('row', { name: /person39@example.com/ }).waitFor();
  expect(await page.getByRole('row', { name: /person1@/ }).count()).toBe(0);
  await page.goto(`${url}/app/test/contacts`);
  await page.getByRole('row', { name: /person39@example.com/ }).waitFor();
  await inspect(page, 'contacts');
  await keys('j');
  await pressOn(page.locator('[data-row]:focus'));
  await heading(/@example.com/);
});

test('audiences: a filter with a live count, and a list of people', async () => {
  await page.goto(`${url}/app/test/audiences`);
  await heading('No audiences yet');
  await keys('c');
  await heading('New audience');
  await page.getByLabel('Name', { exact: true }).fill('Grown-ups');
  await page.getByLabel('Condition 1: field').selectOption('properties.');
  await page.getByLabel('Condition 1: name of the property').fill('age');
  await page.getByLabel('Condition 1: comparison').selectOption({ label: 'is at least' });
  await page.getByLabel('Condition 1: value').fill('30');
  const matched = page.getByRole('region', { name: 'Matching contacts' }).getByRole('status');
  await eventually('10 match', async () => ((await matched.textContent()) === '10' ? true : undefined));
  await press(page, 'Add group');
  await page.getByLabel('Condition 2.1: field').selectOption('email');
  await page.getByLabel('Condition 2.1: comparison').selectOption({ label: 'contains' });
  await page.getByLabel('Condition 2.1: value').fill('person35');
  await eventually('one matches', async () => ((await matched.textContent()) === '1' ? true : undefined));
  await inspect(page, 'audience-new');
  await press(page, 'Create audience');
  await heading('Grown-ups');
  await page.getByRole('row', { name: /person35@example.com/ }).waitFor();
  const views = page.getByRole('navigation', { name: 'Audience views' });
  await pressOn(views.getByRole('link', { name: 'Settings' }));
  await page.getByLabel('Condition 2.1: value').waitFor();
  expect(await page.getByLabel('Condition 2.1: value').inputValue()).toBe('person35');
  await inspect(page, 'audience-settings');

  await page.goto(`${url}/app/test/audiences/new`);
  await page.getByLabel('Name', { exact: true }).fill('Friends');
  await pressOn(page.getByRole('radio', { name: /^Static/ }), 'Space');
  await press(page, 'Create audience');
  await heading('No contacts yet');
  await keys('c');
  await page.getByLabel('Email addresses').fill('person1@example.com, person2@example.com no@example.com');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add contacts' }));
  await page.getByRole('row', { name: /person2@example.com/ }).waitFor();
  await inspect(page, 'audience');
  const removed = page.getByRole('row', { name: /person2@example.com/ }).waitFor({ state: 'detached' });
  await readsAfter(page, /\/app\/api\/test\/audiences\/[^/?]+$/, removed);
  await press(page, 'Remove person2@example.com from the audience');
  await press(page, 'Undo');
  await page.getByRole('row', { name: /person2@example.com/ }).waitFor();
  await page.goto(`${url}/app/test/audiences`);
  await page.getByRole('row', { name: /Friends/ }).waitFor();
  await inspect(page, 'audiences');
});

test('suppressions: added, imported and removed', async () => {
  await page.goto(`${url}/app/test/suppressions`);
  await heading('Test mail is never suppressed');
  expect(await page.getByRole('button', { name: 'Suppress address' }).count()).toBe(0);
  await page.goto(`${url}/app/live/suppressions`);
  await heading('No suppressed addresses');
  await inspect(page, 'suppressions-empty');
  await keys('c');
  await page.getByRole('dialog').getByLabel('Address').fill('nobody');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Suppress address' }));
  await page.locator('[name=address][aria-invalid=true]:focus').fill('left@example.com');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /left@example.com/ }).waitFor();
  await press(page, 'Import');
  await page.locator('input[type=file]').setInputFiles({
    name: 'old.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('email,reason\nold@example.com,bounced\nwrong,bounced\n'),
  });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Import' }));
  await heading('Suppressions imported');
  await inspect(page, 'suppressions-imported');
  await press(page, 'Done');
  await page.getByRole('row', { name: /old@example.com/ }).waitFor();
  await inspect(page, 'suppressions');
  await press(page, 'Remove suppression of left@example.com');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }));
  await page.getByRole('row', { name: /left@example.com/ }).waitFor({ state: 'detached' });
});

test('templates: written beside what they become, kept as versions, gone back to', async () => {
  await page.goto(`${url}/app/test/templates`);
  await heading('No test templates yet');
  await keys('c');
  await page.getByLabel('Name', { exact: true }).fill('Order');
  await pressOn(page.getByRole('radio', { name: /^Markdown/ }), 'Space');
  await press(page, 'Create template');
  const shown = page.frameLocator('iframe[title="Message"]');
  await shown.getByText('Hello there').waitFor();
  await page.getByLabel('name', { exact: true }).fill('<b>7</b>');
  await shown.getByText('<b>7</b>').first().waitFor();
  await inspect(page, 'template');
  const source = page.getByRole('textbox', { name: 'Markdown source' });
  await source.focus();
  await keys('Control+End');
  await page.keyboard.insertText('\n\nSee you soon {{ oops');
  await page
    .getByRole('region', { name: 'Editor' })
    .getByRole('alert')
    .getByText(/line 5/i)
    .waitFor();
  await inspect(page, 'template-refused');
  await page.keyboard.insertText(' | upcase }}');
  await shown.getByText('See you soon').waitFor();
  await keys('Control+s');
  await page.getByText('Version 2', { exact: true }).waitFor();
  await pressOn(page.getByLabel('Phone'), 'Space');
  await pressOn(page.getByLabel('Dark'), 'Space');
  await inspect(page, 'template-phone');
  await pressOn(page.getByRole('link', { name: 'Versions' }));
  await heading('Versions of “Order”');
  await pressOn(page.getByRole('radio', { name: /Version 1/ }), 'Space');
  await page.getByText('See you soon', { exact: false }).first().waitFor();
  await inspect(page, 'template-versions');
  await press(page, 'Restore version 1');
  await page.getByText('Version 3', { exact: true }).waitFor();
});

test('templates: copied to the other environment, and once more over what is there', async () => {
  const invoice = { name: 'Invoice', subject: 'Invoice {{ number }}', html: '<p>First</p>' };
  const made = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    ...invoice,
    alias: 'invoice',
    variables: [{ key: 'number', type: 'string', required: true }],
  });
  const copy = async (action: string) => {
    await press(page, 'More actions');
    await pressOn(page.getByRole('menuitem', { name: 'Copy to live' }));
    const dialog = page.getByRole('dialog');
    await pressOn(dialog.getByRole('button', { name: 'Copy template', exact: true }));
    if (action !== 'Copy template') {
      await dialog.getByText('A template “invoice” already exists there.', { exact: false }).waitFor();
      await inspect(page, 'template-copy');
      await pressOn(dialog.getByRole('button', { name: action }));
    }
    await waitForToast(page, 'Template “Invoice” copied to the live environment');
    await withoutDialog(page);
  };
  const inLive = async () =>
    (await asMember<Record<string, unknown>>(page, 'GET', 'live/templates/invoice')).data;
  await page.goto(`${url}/app/test/templates/${made.data.id}`);
  await copy('Copy template');
  expect(await inLive()).toMatchObject({
    ...invoice,
    livemode: true,
    version: 1,
    variables: [{ key: 'number', type: 'string', required: true, fallback: null }],
  });
  await asMember(page, 'PATCH', `test/templates/${made.data.id}`, { html: '<p>Second</p>' });
  await page.goto(`${url}/app/test/templates/${made.data.id}`);
  await copy('Replace content');
  expect(await inLive()).toMatchObject({ html: '<p>Second</p>', version: 2 });
  expect((await asMember<unknown[]>(page, 'GET', 'live/templates')).data).toHaveLength(1);
  await asMember(page, 'DELETE', 'live/templates/invoice');
});

test('a template cannot do anything to the dashboard', async () => {
  const hostile = [
    '<script>parent.document.title = "taken"</script><img src="x" onerror="parent.document.title = 1">',
    '<meta http-equiv="refresh" content="0; url=https://evil.example/">',
    '<style>@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }</style>',
    '<form action="https://evil.example/"><button>Give</button></form><p>Still here</p>',
  ].join('');
  const { data } = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    name: 'Hostile',
    subject: 'x',
    html: hostile,
  });
  await page.goto(`${url}/app/test/templates/${data.id}`);
  await page.frameLocator('iframe[title="Message"]').getByText('Still here').waitFor();
  const frame = page.frames().find((each) => each.url().endsWith('/app/frame'));
  const color = () => frame?.evaluate('getComputedStyle(document.querySelector("p")).color');
  expect(await color()).toBe('rgb(0, 0, 0)');
  await pressOn(page.getByLabel('Dark'), 'Space');
  await eventually('dark rules hold', async () => ((await color()) === 'rgb(1, 2, 3)' ? true : undefined));
  expect(await page.title()).toStartWith('Hostile');
  expect(page.frames().map((frame) => new URL(frame.url()).pathname.replace(/\/ws_\w+/, ''))).toEqual([
    `/app/test/templates/${data.id}`,
    '/app/frame',
  ]);
  // The browser tells what it refused, which is what was to be shown.
  dashboard.complaints.length = 0;
});

test('a message that is shown keeps nothing that announces a connection, which no policy would stop', async () => {
  const link = '<link rel="preconnect" href="https://evil.example">';
  const html = `${link}<svg>${link}</svg><noscript>${link}</noscript><p>Seen</p>`;
  const message = { from: 'a@acme.test', to: 'delivered@simulator.svc.test', subject: 'x', html };
  const email = await asMember<{ id: string }>(page, 'POST', 'test/emails', message);
  await page.goto(`${url}/app/test/emails/${email.data.id}`);
  const shown = page.frameLocator('iframe');
  await shown.getByText('Seen').waitFor();
  expect(await shown.locator('link').count()).toBe(0);
  dashboard.complaints.length = 0;
});

test('campaigns: written, checked and sent, with numbers that add up', async () => {
  await asMember(page, 'POST', 'live/domains', { name: 'acme.test' });
  await asMember(page, 'PATCH', 'live/workspace', { branding: { address: '1 Main Street' } });
  const emails = Array.from({ length: 12 }, (_, at) => `reader${at}@people.test`);
  await asMember(page, 'POST', 'live/contacts/batch', { contacts: emails.map((email) => ({ email })) });
  const audience = await asMember<{ id: string }>(page, 'POST', 'live/audiences', { name: 'Readers' });
  await asMember(page, 'POST', `live/audiences/${audience.data.id}/contacts`, { emails });
  await asMember(page, 'PATCH', `live/contacts/${emails[0]}`, { status: 'unsubscribed' });

  await page.goto(`${url}/app/live/campaigns`);
  await heading('No campaigns yet');
  await keys('c');
  await page.getByRole('dialog').getByLabel('Name').fill('July news');
  await press(page, 'Create campaign');
  await page.getByLabel('From', { exact: true }).fill('nobody');
  await press(page, 'Save');
  await page.locator('[name=from][aria-invalid=true]:focus').fill('Acme <news@acme.test>');
  await keys('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.frameLocator('iframe[title="Message"]').getByText('what you want to say').waitFor();
  await inspect(page, 'campaign-draft');
  await press(page, 'Send or schedule');
  await page.getByRole('dialog').getByRole('textbox').fill('3');
  await press(page, 'Send now');
  await page.getByText('Enter 12 to confirm.').waitFor();
  await inspect(page, 'campaign-send');
  await page.getByRole('dialog').getByRole('textbox').fill('12');
  await page.keyboard.press('Enter');
  await heading('12 in the audience');
  const figure = (name: string) => page.getByRole('term').filter({ hasText: name }).locator('+ dd');
  await eventually('11 are sent and one is skipped', async () =>
    (await figure('Sent').textContent()) === '11' && (await figure('Skipped').textContent()) === '1'
      ? true
      : undefined,
  );
  await inspect(page, 'campaign');
  await pressOn(figure('Skipped').getByRole('link'));
  await page.getByRole('row', { name: /reader0@people.test.*unsubscribed/ }).waitFor();
  await inspect(page, 'campaign-recipients');
  await page.goto(`${url}/app/live/campaigns`);
  await page.getByRole('row', { name: /July news/ }).waitFor();
  await inspect(page, 'campaigns');
  // The palette finds what has a name, beside pages, emails and people.
  await keys('Control+k');
  await page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.insertText('july');
  await page.getByRole('group', { name: 'Campaigns' }).getByRole('option', { name: 'July news' }).waitFor();
  await page.keyboard.press('Enter');
  await heading('July news');
});

test('analytics: live mail over time, and as rates', async () => {
  await page.goto(`${url}/app/test/analytics`);
  await heading('Test mail is not counted');
  await page.goto(`${url}/app/live/analytics`);
  const accepted = page.getByRole('radio', { name: /^Accepted 11/ });
  await eventually('11 are counted', async () => {
    await page.reload();
    await heading('Rates');
    return (await accepted.count()) === 1 ? true : undefined;
  });
  await pressOn(accepted, 'Space');
  const chart = page.getByRole('slider', { name: 'Accepted: choose a point' });
  expect(await chart.getAttribute('aria-valuetext')).toEndWith(': 11');
  await chart.press('ArrowLeft');
  expect(await chart.getAttribute('aria-valuetext')).toEndWith(': 0');
  await inspect(page, 'analytics');
  await page.goto(`${url}/app/live`);
  await page.getByRole('slider', { name: 'Accepted: choose a point' }).waitFor();
  await inspect(page, 'overview-live');
});

test('a viewer sees the people, and no button that would fail', async () => {
  const eve = await dashboard.newcomer();
  await eve.goto(await invite(dashboard, page, 'eve@acme.example', 'viewer'));
  await typeInto(eve, { 'Your name': 'Eve', Password: PASSWORD });
  await eve.keyboard.press('Enter');
  await heading('Welcome, Eve', eve);
  const WRITING = /\b(?:Add|New|Import|Suppress|Remove|Edit|Forget|Unsubscribe|Delete|Save)\b/;
  const places = 'test/contacts test/audiences live/suppressions test/templates live/campaigns'.split(' ');
  for (const path of places) {
    await eve.goto(`${url}/app/${path}`);
    await eve.locator('main').getByRole('row').nth(1).or(eve.locator('main h2').first()).first().waitFor();
    expect([
      path,
      await eve.locator('main').getByRole('button', { name: WRITING }).allTextContents(),
    ]).toEqual([path, []]);
  }
  await eve.goto(`${url}/app/test/contacts`);
  await pressOn(eve.getByRole('link', { name: /person39@example.com/ }));
  await heading('person39@example.com', eve);
  expect(await eve.locator('main').getByRole('button', { name: WRITING }).count()).toBe(0);
  await eve.context().close();
  expect(dashboard.complaints).toEqual([]);
});
