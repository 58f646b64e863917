import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, type Dashboard, openDashboard, ownerPage } from './dashboard.ts';
import { watchRenders } from './renders.ts';

// A long list is answered at once: what concerns one row renders that row, and no other.

const PEOPLE = 20;

let dashboard: Dashboard;
let page: Page;

/** The row that an element is in, by its place from one on; other parts of the page have no name. */
const WATCH = watchRenders(`
  const place = Number(element?.closest('tr')?.ariaRowIndex ?? 0) - 1;
  return place > 0 ? place : null;
`);

beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
  await page.addInitScript(WATCH);
  for (let at = 0; at < PEOPLE; at++)
    await asMember(page, 'POST', 'live/contacts', { email: `m${at}@people.test` });
  await page.goto(`${dashboard.service.url}/app/live/contacts`);
  await row(PEOPLE - 1).waitFor();
  // Answers that come later render the page as well.
  await page.waitForLoadState('networkidle');
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const row = (index: number) => page.locator(`[data-row="${index}"]`);
const forget = () => page.evaluate('rendered.length = 0');
const renderedRows = async () =>
  (await page.evaluate<readonly (number | null)[]>('rendered')).filter((place) => place !== null);

test('a row that gets the focus renders none', async () => {
  await forget();
  await row(3).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  expect(await row(4).evaluate((each) => each.matches(':focus'))).toBe(true);
  expect(await renderedRows()).toEqual([]);
  // The Tab key reaches this one alone.
  expect(
    await page.locator('[data-row][tabindex="0"]').evaluateAll((all) => all.map((each) => each.textContent)),
  ).toEqual([await row(4).textContent()]);
});

test('a row that is selected renders no other', async () => {
  await forget();
  await page
    .getByRole('checkbox', { name: /^Select m/ })
    .nth(6)
    .press('Space');
  await page.getByText('1 selected', { exact: true }).waitFor();
  expect([...new Set(await renderedRows())]).toEqual([7]);
});

test('Escape hides a menu in its first picture, takes it away and gives its button the focus', async () => {
  const button = page.locator('[aria-haspopup="menu"]').first();
  await button.click();
  await page.getByRole('menuitem').first().waitFor();
  await page.evaluate(`
    const look = () => (globalThis.opacity = getComputedStyle(document.querySelector('.menu') ?? document.body).opacity);
    document.addEventListener('keydown', () => requestAnimationFrame(look), { once: true, capture: true });
  `);
  await page.keyboard.press('Escape');
  await page.locator('.menu').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>('opacity')).toBe('0');
  await eventually('the focus', async () =>
    (await button.evaluate((each) => each.matches(':focus'))) ? true : undefined,
  );
});

test('a click that opens a row changes the picture, and not only the press before it', async () => {
  await page.evaluate(`
    globalThis.colors = [];
    const note = () => colors.push(getComputedStyle(document.querySelector('[data-row="2"]'), '::after').backgroundColor);
    document.querySelector('[data-row="2"]').addEventListener('mousedown', note);
    new MutationObserver(note).observe(document.querySelector('main'), { attributeFilter: ['data-leaving'] });
  `);
  await row(2).click();
  const [pressed, opened] = await eventually('both colours', async () => {
    const colors = await page.evaluate<readonly string[]>('colors');
    return colors.length >= 2 ? colors : undefined;
  });
  expect([pressed, opened]).not.toContain('rgba(0, 0, 0, 0)');
  expect(opened).not.toBe(pressed);
});
