import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
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
  signIn,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect } from './looks.ts';

// Drafts on the server: another browser takes them up, and another member sees who else writes.

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const made = async (path: string, body: object) =>
  (await asMember<{ id: string }>(page, 'POST', path, body)).data.id;
const stored = async <Data>(path: string) => (await asMember<Data>(page, 'GET', path)).data;
const field = (name: string, on = page) => on.getByLabel(name, { exact: true });

async function aCampaign(): Promise<string> {
  const audienceId = await made('live/audiences', { name: 'Readers' });
  return made('live/campaigns', { name: 'News', audienceId, subject: 'The old subject', html: '<p>Old</p>' });
}
const aTemplate = () =>
  made('live/templates', { name: 'Receipt', subject: 'The old subject', html: '<p>Old</p>' });
const aFlow = () =>
  made('live/flows', {
    name: 'Welcome',
    trigger: { type: 'manual' },
    entry: 'wait',
    steps: [{ key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } }],
  });

const isSaved = (on: Page) =>
  on
    .getByRole('status')
    .filter({ hasText: /^Saved/ })
    .first()
    .waitFor();

/** Signs another member in. */
async function invited(on: Page): Promise<void> {
  const link = await invite(dashboard, page, 'bo@acme.example', 'admin');
  await on.goto(`${url}/app/setup`);
  const token = link.split('#token=')[1];
  const { status } = await asMember(on, 'POST', 'invitation', { token, name: 'Bo', password: PASSWORD });
  expect(status).toBe(201);
}

describe('two members who edit one campaign', () => {
  test('each sees that the other writes, nothing is lost, and both versions are shown', async () => {
    const id = await aCampaign();
    const bo = await dashboard.newcomer();
    await invited(bo);
    for (const each of [page, bo]) {
      await each.goto(`${url}/app/live/campaigns/${id}`);
      await field('Subject', each).waitFor();
    }
    await field('Subject').fill('Of Ada');
    await page
      .getByTitle(/^Until you save, your changes are kept on the server/)
      .first()
      .waitFor();
    await bo.getByText('Ada Lovelace has unsaved changes in Subject', { exact: false }).waitFor();
    await field('Subject', bo).fill('Of Bo');
    await page.getByText('Bo has unsaved changes in Subject', { exact: false }).waitFor();
    await inspect(page, 'editing-others');
    await bo.keyboard.press('Control+s');
    await bo.getByText('Saved', { exact: true }).waitFor();
    await page.getByText('Someone else changed Subject while you were editing.', { exact: false }).waitFor();
    // The text of Ada is not in this browser alone, and meets what Bo has saved.
    const home = await dashboard.newcomer();
    await home.goto(`${url}/app/live/campaigns/${id}`);
    await signIn(home);
    await press(home, 'Restore');
    expect(await field('Subject', home).inputValue()).toBe('Of Ada');
    await press(home, 'Compare');
    const dialog = home.getByRole('dialog', { name: 'Someone else changed this too' });
    await dialog.getByText('Of Ada').waitFor();
    await dialog.getByText('Of Bo').waitFor();
    expect(await stored(`live/campaigns/${id}`)).toMatchObject({ subject: 'Of Bo' });
    await pressOn(dialog.getByRole('button', { name: 'Save' }));
    await withoutDialog(home);
    await eventually('the chosen version', async () =>
      (await stored<{ subject: string }>(`live/campaigns/${id}`)).subject === 'Of Ada' ? true : undefined,
    );
    await isSaved(page);
    await bo.context().close();
    await home.context().close();
  });

  test('a draft of a template and of a flow is there in another browser', async () => {
    const [template, flow] = [await aTemplate(), await aFlow()];
    await page.goto(`${url}/app/live/templates/${template}`);
    await field('Subject').fill('Typed elsewhere');
    await page
      .getByTitle(/on the server/)
      .first()
      .waitFor();
    const home = await dashboard.newcomer();
    await home.goto(`${url}/app/live/templates/${template}`);
    await signIn(home);
    await press(home, 'Restore');
    expect(await field('Subject', home).inputValue()).toBe('Typed elsewhere');
    await home.keyboard.press('Control+s');
    await waitForToast(home, 'Saved and published');
    // This page has read what the other one has saved.
    await isSaved(page);
    await page.goto(`${url}/app/live/flows/${flow}`);
    await pressOn(page.locator('[data-step="wait"]'));
    await page.getByRole('region', { name: 'Wait' }).locator(':focus').waitFor();
    await page.getByRole('region', { name: 'Wait' }).getByRole('spinbutton').fill('7');
    await eventually('the service has it', async () => {
      const own = await stored<readonly unknown[]>(`drafts?place=live/flows/${flow}`);
      return own.length > 0 || undefined;
    });
    await home.goto(`${url}/app/live/flows/${flow}`);
    await press(home, 'Restore');
    await pressOn(home.locator('[data-step="wait"]'));
    expect(await home.getByRole('region', { name: 'Wait' }).getByRole('spinbutton').inputValue()).toBe('7');
    await home.context().close();
    await press(page, 'Discard changes');
  });
});

test('a draft that is slow on its way neither comes back after Save nor takes what was typed since', async () => {
  const id = await aTemplate();
  const drafts = /\/app\/api\/drafts$/;
  const own = () => stored<readonly { values: { subject: string } }[]>(`drafts?place=live/templates/${id}`);
  let gate = Promise.resolve();
  await page.route(drafts, async (route) => {
    if (route.request().method() === 'PUT') await gate;
    await route.continue();
  });
  /** Holds the next drafts back; the answer lets them go. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  const isOnItsWay = () =>
    page.waitForRequest((request) => request.method() === 'PUT' && drafts.test(request.url()));
  await page.goto(`${url}/app/live/templates/${id}`);
  await field('Subject').waitFor();

  let release = hold();
  let begun = isOnItsWay();
  await field('Subject').fill('Saved first');
  await begun;
  await page.keyboard.press('Control+s');
  await isSaved(page);
  const removed = page.waitForResponse((reply) => reply.request().method() === 'DELETE');
  release();
  expect((await removed).status()).toBe(204);
  expect(await own()).toEqual([]);

  release = hold();
  begun = isOnItsWay();
  await field('Subject').fill('Saved second');
  await begun;
  await page.keyboard.press('Control+s');
  await isSaved(page);
  await field('Subject').fill('Typed since');
  await page.getByText('Not saved', { exact: true }).waitFor();
  release();
  await eventually('the service has what was typed since', async () =>
    (await own()).some(({ values }) => values.subject === 'Typed since') ? true : undefined,
  );
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await press(page, 'Restore');
  expect(await field('Subject').inputValue()).toBe('Typed since');
  await page.keyboard.press('Control+s');
  await isSaved(page);
  await eventually('no draft is left', async () => (await own()).length === 0 || undefined);
  await page.unroute(drafts);
});

test('no page has complained', () => expect(dashboard.complaints).toEqual([]));
