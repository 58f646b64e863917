import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { TEST_KEY } from '../support/service.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  pressOn,
  type Resource,
  readsAfter,
} from './dashboard.ts';

// Answers that arrive late, or in another order than they were asked for: what a person did last counts.

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

let dashboard: Dashboard;
let page: Page;
let url: string;
beforeAll(async () => {
  dashboard = await openDashboard();
  ({ url } = dashboard.service);
  page = await ownerPage(dashboard);
  for (const name of ['ada', 'zoe'])
    await asMember(page, 'POST', 'test/contacts', { email: `${name}@people.test` });
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

/**
 * Long enough for a page to do what it must not do: a correct one does nothing, however long it is waited
 * for.
 */
const frames = async () => {
  for (let at = 0; at < 30; at++) await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
};
const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
const chooseFile = (name: string, text: string) =>
  page.locator('input[type=file]').setInputFiles(file(name, text));
const target = (column: string) => page.getByLabel(`Target of “${column}”`);

/** Holds the first request to these addresses until it is released; `asked` tells that it is there. */
async function held(addresses: RegExp) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<'answered' | 'given up'>();
  let first: Request | null = null;
  const finish = (request: Request) => request === first && ended.resolve('answered');
  const fail = (request: Request) => request === first && ended.resolve('given up');
  page.on('requestfinished', finish).on('requestfailed', fail);
  await page.route(addresses, async (route) => {
    if (first === null) {
      first = route.request();
      asked.resolve();
      await released.promise;
    }
    await route.continue().catch(() => {});
  });
  return {
    asked: asked.promise,
    /** Lets it go: the page has had its answer then, unless it wants none any more. */
    release: async () => {
      released.resolve();
      const end = await ended.promise;
      await frames();
      page.off('requestfinished', finish).off('requestfailed', fail);
      await page.unroute(addresses);
      return end;
    },
  };
}

test('the search: Enter opens what was found for the last letters, and not what was found before', async () => {
  await page.goto(`${url}/app/test/domains`);
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /^Search pages/ });
  await field.fill('ada@people');
  await page.getByRole('option', { name: /^ada@people\.test/ }).waitFor();
  const found = Promise.withResolvers<void>();
  await readsAfter(page, /\/contacts\?.*search=zoe/, found.promise);
  await field.fill('zoe@people');
  await page.keyboard.press('Enter');
  await frames();
  expect(await field.count()).toBe(1);
  found.resolve();
  await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
  expect(new URL(page.url()).searchParams.get('to')).toBe('zoe@people.test');
  await page.unrouteAll();
});

test('an import: the file that was chosen last counts', async () => {
  await page.goto(`${url}/app/test/contacts/import`);
  const plan = await held(/\/contacts\/import\/plan/);
  await chooseFile('first.csv', 'Email,City\na@people.test,Rome\n');
  await plan.asked;
  await chooseFile('second.csv', 'Email,Town\nb@people.test,Oslo\n');
  await target('Town').waitFor();
  await plan.release();
  expect(await target('City').count()).toBe(0);
  await page.getByText('second.csv', { exact: false }).first().waitFor();
});

test('an import: a check counts for what it was a check of', async () => {
  await page.goto(`${url}/app/test/contacts/import`);
  await chooseFile('people.csv', 'Email,City\na@people.test,Rome\n');
  await target('City').waitFor();
  const begin = page.getByRole('button', { name: 'Import 1 row' });
  const check = await held(/\/contacts\/import\?dryRun=true/);
  await press(page, 'Check file');
  await check.asked;
  await target('City').selectOption({ label: 'Ignore' });
  await check.release();
  expect(await page.getByRole('region', { name: /^3\./ }).count()).toBe(0);
  await press(page, 'Check file');
  await begin.waitFor();
  // Other choices than those that were checked have to be checked.
  await page.getByLabel('Existing contacts').selectOption({ label: 'Skip them' });
  expect(await begin.count()).toBe(0);
});

test('an import that was left while it was sent does not lead back', async () => {
  await page.goto(`${url}/app/test/contacts/import`);
  await chooseFile('people.csv', 'Email\na@people.test\n');
  await press(page, 'Check file');
  const sent = await held(/\/contacts\/import\?dryRun=false/);
  await press(page, 'Import 1 row');
  await sent.asked;
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Domains' }).click();
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
  await sent.release();
  expect(page.url()).toEndWith('/domains');
});

test('a picture that is uploaded once another pane is open changes nothing of what was typed there', async () => {
  // A busy machine renders a template later than the service waits.
  const { id } = await eventually(
    'the template',
    async () =>
      (
        await asMember<Resource | undefined>(page, 'POST', 'test/templates', {
          name: 'Tour',
          subject: 'Hi',
          format: 'mjml',
          mjml: '<mjml><mj-body><mj-section><mj-column><mj-text>Story</mj-text></mj-column></mj-section></mj-body></mjml>',
        })
      ).data,
  );
  await page.goto(`${url}/app/test/templates/${id}`);
  await page.getByRole('group', { name: /^Text: Story/ }).waitFor();
  const upload = await held(/\/test\/assets\?/);
  await page.evaluate(`(() => {
    const octets = Uint8Array.from(atob('${PNG}'), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([octets], 'tour.png', { type: 'image/png' }));
    document.querySelector('[role=group][aria-label^="Text: Story"]')
      .dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
  })()`);
  await upload.asked;
  await page.getByText('Code', { exact: true }).click();
  const source = page.getByRole('textbox', { name: 'MJML source' });
  await source.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('<!-- typed -->');
  await upload.release();
  await page.locator('[data-toast]').getByText('tour.png', { exact: false }).waitFor();
  const text = (await source.textContent()) ?? '';
  expect([text.includes('<!-- typed -->'), text.includes('mj-image')]).toEqual([true, false]);
});

test('a switch that is pressed twice while the service is slow is as it was', async () => {
  await page.goto(`${url}/app/test/settings?tab=emails`);
  const box = page.getByLabel('Disabled webhooks');
  await box.and(page.locator(':checked')).waitFor();
  const saved = await held(/\/workspace$/);
  await pressOn(box, 'Space');
  await saved.asked;
  // It shows at once how it will be.
  await box.and(page.locator(':not(:checked)')).waitFor();
  await pressOn(box, 'Space');
  await box.and(page.locator(':checked')).waitFor();
  await saved.release();
  await page.locator('[data-toast]').getByText('Disabled webhooks: notifications on').waitFor();
  const { data } = await asMember<{ serviceEmails: Record<string, boolean> }>(page, 'GET', 'test/workspace');
  expect(Object.values(data.serviceEmails)).not.toContain(false);
  expect(await box.isChecked()).toBe(true);
});

test('rows from before the last filter cannot be selected all at once', async () => {
  const client = createClient(url, TEST_KEY);
  for (const subject of ['Welcome', 'Invoice'])
    await client.post('/v1/emails', {
      from: 'a@acme.example',
      to: 'ada@people.test',
      subject,
      text: 'Hello',
    });
  await page.goto(`${url}/app/test/emails`);
  await page.getByRole('row', { name: /Welcome/ }).waitFor();
  const found = Promise.withResolvers<void>();
  await readsAfter(page, /\/emails\?.*subject=Invoice/, found.promise);
  await page.getByLabel('Recipient or subject', { exact: true }).fill('Invoice');
  await page.keyboard.press('Enter');
  const all = page.getByRole('checkbox', { name: 'Select all loaded rows' });
  await all.and(page.locator(':disabled')).waitFor();
  found.resolve();
  await page.getByRole('row', { name: /Welcome/ }).waitFor({ state: 'detached' });
  await all.check();
  await page.getByText('1 selected', { exact: true }).waitFor();
  await page.unrouteAll();
});

test('a change of the rows in sight is shown where the next page is read meanwhile', async () => {
  for (let at = 0; at < 60; at++)
    await asMember(page, 'POST', 'live/contacts', { email: `m${String(at).padStart(2, '0')}@people.test` });
  await page.goto(`${url}/app/live/contacts?sort=email`);
  await page.getByRole('row', { name: /m00@people\.test/ }).waitFor();
  await page.getByText('60 contacts', { exact: true }).waitFor();
  const again = await held(/\/live\/contacts\?(?!.*after=)/);
  const changed = await asMember(page, 'PATCH', 'live/contacts/m00@people.test', { firstName: 'Grace' });
  expect(changed.status).toBe(200);
  await again.asked;
  await page.getByRole('button', { name: 'Show more' }).click();
  expect(await again.release()).toBe('answered');
  await page.locator('table[aria-rowcount="61"]').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('row', { name: /Grace/ }).waitFor();
});

test('no page has complained', () => expect(dashboard.complaints).toEqual([]));
