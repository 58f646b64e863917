import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard, ownerPage, placeOf, withoutDialog } from './dashboard.ts';

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const field = () => page.getByRole('combobox', { name: /^Search pages/ });
const chosen = (name: string) => page.getByRole('option', { name, exact: true, selected: true }).waitFor();
const key = (name: string) => page.keyboard.press(name);

async function open(): Promise<void> {
  await key('Control+k');
  await field().and(page.locator(':focus')).waitFor();
}

test('the search is used from its field: arrows go round, Enter takes the chosen result, Escape ends it', async () => {
  await page.goto(`${dashboard.service.url}/app/test/domains`);
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
  await open();
  await chosen('Overview');
  await key('ArrowUp');
  await chosen('Open documentation');
  await key('ArrowDown');
  await key('ArrowDown');
  await chosen('Emails');
  // A screen reader hears the result that the field names.
  const named = (await field().getAttribute('aria-activedescendant')) ?? '';
  expect(await page.locator(`[id="${named}"]`).textContent()).toBe('Emails');
  await page.keyboard.insertText('audi');
  await chosen('Audiences');
  await key('Backspace');
  await key('Escape');
  await withoutDialog(page);
  expect(placeOf(page)).toEndWith('/app/test/domains');
  await open();
  await page.keyboard.insertText('audi');
  await key('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audiences' }).waitFor();
  expect(dashboard.complaints).toEqual([]);
});

test('a pointer chooses a result when it moves, not where it rests', async () => {
  await open();
  const box = await page.getByRole('option', { name: 'Domains', exact: true }).boundingBox();
  const at = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 10 };
  await key('Escape');
  await withoutDialog(page);
  await page.mouse.move(at.x, at.y);
  await open();
  await chosen('Overview');
  await key('ArrowUp');
  await chosen('Open documentation');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await chosen('Open documentation');
  await page.getByRole('option', { name: 'Show keyboard shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  expect(await field().count()).toBe(0);
});

test('keys that follow at once go into the field', async () => {
  await page.goto(`${dashboard.service.url}/app/test/domains`);
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
  await open();
  await key('Escape');
  await withoutDialog(page);
  const cdp = await page.context().newCDPSession(page);
  const press = (letter: string, modifiers = 0) =>
    cdp.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      key: letter,
      code: `Key${letter.toUpperCase()}`,
      modifiers,
      ...(modifiers === 0 && { text: letter }),
    });
  const control = 2;
  await Promise.all([press('k', control), ...[...'tca'].map((letter) => press(letter))]);
  await field().waitFor();
  expect(await field().inputValue()).toBe('tca');
  await key('Escape');
  await withoutDialog(page);
});

test.each([{ isComposing: true }, { keyCode: 229 }])(
  'Enter that ends a composition chooses nothing: %p',
  async (init) => {
    await open();
    await chosen('Overview');
    await field().dispatchEvent('keydown', { key: 'Enter', bubbles: true, ...init });
    await key('ArrowDown');
    await chosen('Emails');
    await key('Escape');
    await withoutDialog(page);
    expect(placeOf(page)).toEndWith('/app/test/domains');
  },
);

test('a search without results tells of it', async () => {
  await open();
  await page.keyboard.insertText('zzzz');
  await page.getByRole('status').filter({ hasText: 'No results for “zzzz”.' }).waitFor();
  await key('Escape');
  await withoutDialog(page);
});
