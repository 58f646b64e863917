import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  ADA,
  asMember,
  type Dashboard,
  openDashboard,
  PASSWORD,
  press,
  pressOn,
  signUp,
  typeInto,
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
  page = await dashboard.newcomer();
  await signUp(dashboard, page);
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
    ...{ name: 'Welcome', trigger: { type: 'manual' }, entry: 'wait' },
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
  const invitation = { email: 'bo@acme.example', role: 'admin' };
  const { data } = await asMember<{ url: string }>(page, 'POST', 'live/members/invitations', invitation);
  await on.goto(`${url}/app/setup`);
  const token = data.url.split('#token=')[1];
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
    await typeInto(home, { 'Email address': ADA, Password: PASSWORD });
    await home.keyboard.press('Enter');
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
    await typeInto(home, { 'Email address': ADA, Password: PASSWORD });
    await home.keyboard.press('Enter');
    await press(home, 'Restore');
    expect(await field('Subject', home).inputValue()).toBe('Typed elsewhere');
    await home.keyboard.press('Control+s');
    await waitForToast(home, 'Saved and published');
    // This page has read what the other one has saved.
    await isSaved(page);
    await page.goto(`${url}/app/live/flows/${flow}`);
    await pressOn(page.locator('[data-step="wait"]'));
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

test('no page has complained', () => expect(dashboard.complaints).toEqual([]));
