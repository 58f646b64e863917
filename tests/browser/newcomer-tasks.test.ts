import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY } from '../support/service.ts';
import {
  ADA,
  asMember,
  type Dashboard,
  openDashboard,
  PASSWORD,
  press,
  pressOn,
  type Resource,
  setupLink,
} from './dashboard.ts';
import { pictureOf } from './looks.ts';

// Tasks of people who see the application for the first time, with nothing but its address and a goal. Each
// counts its steps.

/** The steps of a person: fields that are filled in, and clicks, choices in a list among them. */
class Steps {
  fields = 0;
  clicks = 0;

  async fill(field: Locator, text: string): Promise<void> {
    this.fields++;
    await field.fill(text);
  }
  async click(target: Locator): Promise<void> {
    this.clicks++;
    await target.click();
  }
  async choose(select: Locator, label: string | RegExp): Promise<void> {
    this.clicks++;
    const labels = await select.locator('option').allTextContents();
    const found = labels.find((each) => (typeof label === 'string' ? each === label : label.test(each)));
    await select.selectOption({ label: found ?? String(label) });
  }
}

let dashboard: Dashboard;
let page: Page;
let receiver: ReturnType<typeof Bun.serve>;
const posted: { readonly type: string }[] = [];
beforeAll(async () => {
  receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      posted.push((await request.json()) as { readonly type: string });
      return new Response(null, { status: 204 });
    },
  });
  dashboard = await openDashboard({ env: { EHLO_NAME: 'mail.acme.example' } });
  page = await dashboard.newcomer();
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  await receiver?.stop(true);
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
const inDialog = (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name });
const field = (label: string) => page.getByLabel(label, { exact: true });
const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();
const nav = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });

test('a first test email is delivered after four fields and two clicks', async () => {
  const steps = new Steps();
  await page.goto(await setupLink(dashboard.service));
  await steps.fill(field('Your name'), 'Ada Lovelace');
  await steps.fill(field('Email address'), ADA);
  await steps.fill(field('Password'), PASSWORD);
  await steps.click(button('Create account'));
  await heading('First steps');
  await steps.click(button('Send test email'));
  await page.getByText('The email arrived.').waitFor();
  expect(steps.fields).toBeLessThanOrEqual(4);
  expect(steps.clicks).toBeLessThanOrEqual(2);
});

test('the domain is set up from the first steps', async () => {
  const steps = new Steps();
  await steps.click(
    page
      .getByRole('main')
      .getByRole('link', { name: /domain/i })
      .first(),
  );
  await pictureOf(page, 'newcomer/domain-1');
  await steps.fill(page.getByLabel('Domain', { exact: true }).first(), 'acme.test');
  await steps.click(button('Add domain').last());
  await page.getByText('Verified', { exact: true }).first().waitFor();
  await pictureOf(page, 'newcomer/domain-2');
  expect([steps.fields, steps.clicks]).toEqual([1, 2]);
});

test('a newsletter goes to the people of a file, with a template that was made by eye, in 25 clicks', async () => {
  const steps = new Steps();
  const lines = Array.from({ length: 200 }, (_, at) => `reader${at}@people.test,Reader ${at}`);
  await page.goto(`${dashboard.service.url}/app/live`);
  await heading(/Ada/);
  await steps.click(nav('Contacts'));
  await steps.click(page.getByRole('link', { name: 'Import contacts' }).first());
  steps.clicks++;
  await page.locator('input[type=file]').setInputFiles({
    name: 'readers.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`email,first name\n${lines.join('\n')}\n`),
  });
  await steps.choose(field('Add all contacts to'), 'New audience “readers”');
  await pictureOf(page, 'newcomer/newsletter-1-columns');
  await steps.click(button('Check file'));
  await steps.click(button('Import 200 rows'));
  await page.getByText('Completed', { exact: true }).waitFor();
  await pictureOf(page, 'newcomer/newsletter-2-imported');

  await steps.click(nav('Templates'));
  await steps.click(button('New template').first());
  await steps.fill(page.getByRole('dialog').getByLabel('Name', { exact: true }), 'July');
  await steps.click(page.getByRole('dialog').getByRole('radio', { name: /Newsletter/ }));
  await pictureOf(page, 'newcomer/newsletter-3-starters');
  await steps.click(inDialog('Create template'));
  await page.getByRole('region', { name: 'Canvas' }).waitFor();
  await steps.click(page.getByRole('group', { name: /^Text/ }).first());
  await page.getByRole('textbox', { name: 'Text', exact: true }).press('End');
  await steps.fill(
    page.getByRole('textbox', { name: 'Text', exact: true }),
    'Hello from Acme, the news of July.',
  );
  await pictureOf(page, 'newcomer/newsletter-4-editor');
  await steps.click(page.getByRole('button', { name: 'Save', exact: true }));
  await page.locator('[data-toast]').getByText('Saved and published').waitFor();

  await steps.click(nav('Campaigns'));
  await steps.click(button('New campaign').first());
  await steps.fill(page.getByRole('dialog').getByLabel('Name', { exact: true }), 'News of July');
  await steps.click(inDialog('Create campaign'));
  await heading('News of July');
  await steps.fill(field('From'), 'Acme <news@acme.test>');
  await steps.choose(field('Content type'), /template/i);
  await steps.choose(field('Template'), 'July');
  await pictureOf(page, 'newcomer/newsletter-5-campaign');
  await steps.click(button('Send or schedule'));
  await steps.fill(page.getByRole('dialog').getByRole('textbox'), '200');
  // The message is shown as a contact of the audience would see it, and as any other one.
  const shown = page.getByRole('dialog').getByRole('region', { name: 'Message that is sent' });
  await shown.getByText(/^As reader\d+@people\.test would see it\.$/).waitFor();
  await shown.frameLocator('iframe').getByText('Hello from Acme, the news of July.').waitFor();
  await shown.getByLabel('Show it for another contact').fill('reader7@people.test');
  await shown.getByText('As reader7@people.test would see it.').waitFor();
  await pictureOf(page, 'newcomer/newsletter-6-send');
  await steps.click(inDialog('Send now'));
  await page.getByRole('heading', { name: '200 in the audience' }).waitFor();
  await eventually('all have left', async () => {
    const { data } = await asMember<readonly unknown[]>(page, 'GET', 'live/captured?limit=100');
    return data.length === 100 || undefined;
  });
  await pictureOf(page, 'newcomer/newsletter-7-sent');
  expect(steps.clicks).toBeLessThanOrEqual(25);
});

test('who begins a newsletter in the test environment is led to live, whose contacts it goes to', async () => {
  const place = () => new URL(page.url()).pathname.replace(/ws_\w+\//, '');
  await page.goto(`${dashboard.service.url}/app/test/contacts/import`);
  await page.getByRole('link', { name: 'import into live' }).click();
  await page.getByRole('link', { name: 'import into live' }).waitFor({ state: 'detached' });
  expect(place()).toBe('/app/live/contacts/import');
  await page.goto(`${dashboard.service.url}/app/test/campaigns`);
  await page.getByRole('link', { name: 'those of live' }).click();
  await page.getByText('Each contact gets it once.', { exact: false }).waitFor();
  expect(place()).toBe('/app/live/campaigns');
});

test('a sender that is typed is seen before it is saved, and one that is missing leads to the domains', async () => {
  await asMember(page, 'POST', 'live/audiences', { name: 'Readers of August' });
  const { data: audiences } = await asMember<Resource[]>(page, 'GET', 'live/audiences');
  const { data } = await asMember<Resource>(page, 'POST', 'live/campaigns', {
    name: 'August',
    audienceId: audiences[0]?.id,
    subject: 'August',
    markdown: 'Sunny days',
  });
  await page.goto(`${dashboard.service.url}/app/live/campaigns/${data.id}`);
  const checks = page.getByRole('region', { name: 'Before sending' });
  await checks.getByRole('link', { name: 'Domains' }).waitFor();
  await page.getByText('Set the sender (from) first', { exact: false }).waitFor();
  await field('From').fill('Acme <news@acme.test>');
  await checks.getByText('Acme <news@acme.test>, checked when you save.').waitFor();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.frameLocator('iframe').getByText('Sunny days').waitFor();
  expect(await page.getByText('Set the sender (from) first', { exact: false }).count()).toBe(0);
});

test('a campaign is shown as one would see it who probably gets it', async () => {
  const people = ['excluded', 'first', 'left'].map((name) => `${name}@shown.test`);
  const post = async (path: string, body: object) =>
    (await asMember<{ readonly id: string }>(page, 'POST', `live/${path}`, body)).data.id;
  const audienceId = await post('audiences', { name: 'Shown' });
  const excluded = await post('audiences', { name: 'Excluded' });
  const further = await post('audiences', { name: 'Further' });
  for (const email of people) await post('contacts', { email });
  await asMember(page, 'POST', `live/audiences/${audienceId}/contacts`, { emails: people });
  await asMember(page, 'POST', `live/audiences/${excluded}/contacts`, { emails: people.slice(0, 1) });
  await asMember(page, 'POST', `live/audiences/${further}/contacts`, { emails: people.slice(1, 2) });
  await asMember(page, 'PATCH', `live/contacts/${people[2]}`, { status: 'unsubscribed' });
  const content = { from: 'Acme <news@acme.test>', subject: 'Hello', html: '<p>Hello</p>' };
  const show = async (excludeAudienceIds: readonly string[]) => {
    const id = await post('campaigns', { name: 'Shown', audienceId, excludeAudienceIds, ...content });
    await page.goto(`${dashboard.service.url}/app/live/campaigns/${id}`);
    await button('Send or schedule').click();
    return page
      .getByRole('dialog')
      .getByText(/^As (?!…).+ would see it\.$/)
      .textContent();
  };
  expect(await show([excluded])).toBe('As first@shown.test would see it.');
  expect(await show([excluded, further])).toBe('As a contact without any data would see it.');
  for (const email of people) await asMember(page, 'DELETE', `live/contacts/${email}`);
  await inDialog('Cancel').click();
});

test('a first flow sends an email to newcomers, in 20 clicks', async () => {
  const steps = new Steps();
  await steps.click(nav('Flows'));
  await steps.click(button('New flow').first());
  await steps.fill(page.getByRole('dialog').getByLabel('Name', { exact: true }), 'Welcome');
  await steps.click(page.getByRole('dialog').getByRole('radio', { name: /Welcome/ }));
  await steps.click(inDialog('Create flow'));
  await heading('Welcome');
  await pictureOf(page, 'newcomer/flow-1');
  // A click while the drawing still moves into place opened no menu once; Enter on the focused button does.
  steps.clicks += 2;
  await press(page, /^Add a step after monday/);
  await pressOn(page.getByRole('menuitem', { name: /Send an email/ }));
  const panel = page.getByRole('region', { name: 'Send an email' });
  await steps.choose(panel.getByLabel('Template'), 'July');
  await steps.fill(panel.getByLabel('From'), 'Acme <hello@acme.test>');
  await pictureOf(page, 'newcomer/flow-2');
  await steps.click(button('Activate').first());
  await pictureOf(page, 'newcomer/flow-3');
  await steps.click(inDialog(/Activate/));
  await page.getByText('Active', { exact: true }).first().waitFor();
  expect(steps.clicks).toBeLessThanOrEqual(20);
});

test('why an email did not arrive is read two clicks from anywhere', async () => {
  const steps = new Steps();
  const { data } = await asMember<{ id: string }>(page, 'POST', 'live/suppressions', {
    address: 'gone@people.test',
  });
  expect(data).not.toBeNull();
  await createClient(dashboard.service.url, LIVE_KEY).post('/v1/emails', {
    from: 'shop@acme.test',
    to: 'gone@people.test',
    subject: 'Your order',
    text: 'It is on its way.',
  });
  await page.goto(`${dashboard.service.url}/app/live`);
  await steps.click(nav('Emails'));
  await steps.fill(field('Recipient or subject'), 'gone@people.test');
  await page.keyboard.press('Enter');
  await steps.click(page.getByRole('row', { name: /gone@people.test/ }).getByRole('link'));
  await page
    .getByText(/suppressed/i)
    .first()
    .waitFor();
  // When, why and by whom it was suppressed.
  const timeline = page.getByRole('list', { name: 'Timeline' });
  await timeline.getByText('Address suppressed').waitFor();
  await timeline.getByText('Suppressed manually by Ada Lovelace.').waitFor();
  await timeline.getByText('Not sent').waitFor();
  await pictureOf(page, 'newcomer/why');
  expect([steps.fields, steps.clicks]).toEqual([1, 2]);
  // The next step is one more: the entry that keeps mail away, which can be removed there.
  await steps.click(page.getByRole('link', { name: 'View suppression of gone@people.test' }));
  await page.getByRole('row', { name: /gone@people.test/ }).waitFor();
});

test('the timeline says only what is known of the suppression', async () => {
  const address = 'fleeting@people.test';
  const { data: contact } = await asMember<{ id: string }>(page, 'POST', 'live/contacts', { email: address });
  await asMember(page, 'POST', 'live/suppressions', { address });
  const client = createClient(dashboard.service.url, LIVE_KEY);
  const sent = await client.post('/v1/emails', {
    from: 'shop@acme.test',
    to: address,
    subject: 'Your order',
    text: 'It is on its way.',
  });
  const timeline = page.getByRole('list', { name: 'Timeline' });
  const then = timeline.getByText('The address was suppressed at that time.', { exact: true });
  const open = () => page.goto(`${dashboard.service.url}/app/live/emails/${sent.body.data.id}`);
  // A read that fails tells nothing of the list.
  const reads = /\/app\/api\/live\/suppressions\?/;
  await page.route(reads, (route) =>
    route.fulfill({ status: 403, json: { error: { message: 'Refused.' } } }),
  );
  await open();
  await then.waitFor();
  await page.unroute(reads);
  await asMember(page, 'DELETE', `live/suppressions/${address}`);
  await open();
  await timeline
    .getByText('The address was suppressed at that time. It is not on the suppression list now.')
    .waitFor();
  // The hash of a forgotten person stays on the list, whatever is said of the address that replaces theirs.
  await asMember(page, 'POST', 'live/suppressions', { address });
  await asMember(page, 'DELETE', `live/contacts/${contact.id}`);
  await eventually('the address is replaced', async () => {
    const { data } = await asMember<{ to: readonly string[] }>(
      page,
      'GET',
      `live/emails/${sent.body.data.id}`,
    );
    return data.to[0]?.endsWith('@forgotten.invalid') || undefined;
  });
  await open();
  await then.waitFor();
});

test('a program hears of bounces: an endpoint is added and tried', async () => {
  const steps = new Steps();
  await steps.click(nav('Webhooks'));
  await steps.click(button('Add endpoint').first());
  await steps.fill(page.getByRole('dialog').getByLabel('URL'), `http://127.0.0.1:${receiver.port}/hooks`);
  await pictureOf(page, 'newcomer/webhook-1');
  await steps.click(inDialog('Add endpoint'));
  await steps.click(inDialog('I have copied it'));
  await page.getByText(/an email to bounced@\S+ there/).waitFor();
  await pictureOf(page, 'newcomer/webhook-2');
  await steps.click(button(/test event/i).first());
  await pictureOf(page, 'newcomer/webhook-3');
  await eventually('the test event is posted', async () => posted.length > 0 || undefined);
  await page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').first().waitFor();
  expect(steps.clicks).toBeLessThanOrEqual(5);
});

test('a wrong import is undone from its page', async () => {
  const steps = new Steps();
  await page.goto(`${dashboard.service.url}/app/live/contacts/import`);
  const lines = Array.from({ length: 120 }, (_, at) => `wrong${at}@elsewhere.test`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'wrong.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`email\n${lines.join('\n')}\n`),
  });
  await button('Check file').click();
  await button('Import 120 rows').click();
  await page.getByText('Completed', { exact: true }).waitFor();
  await pictureOf(page, 'newcomer/undo-1');
  await steps.click(page.getByRole('link', { name: 'contacts that were added' }));
  await page.getByRole('row', { name: /wrong119@/ }).waitFor();
  await steps.click(page.getByRole('checkbox', { name: 'Select all loaded rows' }));
  await steps.click(button(/^Select all, up to/));
  await page.getByText('120 selected').waitFor();
  await pictureOf(page, 'newcomer/undo-2');
  await steps.click(button('Delete contacts'));
  await steps.click(inDialog('Delete contacts'));
  await page.locator('[data-toast]').getByText('120 deleted').waitFor();
  const { data } = await asMember<{ count: number }>(page, 'GET', 'live/contacts/count');
  expect([data.count, steps.clicks]).toEqual([200, 5]);
  expect(dashboard.complaints).toEqual([]);
});
