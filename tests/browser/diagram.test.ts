import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, type Dashboard, openDashboard, ownerPage } from './dashboard.ts';

// An email's page comes to its diagram while a person reads: it is drawn once, and not drawn, measured and
// drawn again.

let dashboard: Dashboard;
let page: Page;

/** Notes the number of lines between states as soon as the page has a state. */
const WATCH = `
  globalThis.linesAtFirst = null;
  new MutationObserver(() => {
    if (linesAtFirst === null && document.querySelector('[data-state]'))
      globalThis.linesAtFirst = document.querySelectorAll('[data-line]').length;
  }).observe(document, { childList: true, subtree: true });
`;

beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
  await page.addInitScript(WATCH);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

test('the states of a diagram and the lines between them are drawn at once', async () => {
  const email = { from: 'a@acme.example', to: 'delivered@posthorn.test', subject: 'Once', text: 'Once.' };
  const { data } = await asMember<{ id: string }>(page, 'POST', 'test/emails', email);
  await page.goto(`${dashboard.service.url}/app/test/emails/${data.id}`);
  await page.locator('[data-state]').first().scrollIntoViewIfNeeded();
  await page.locator('[data-line]').first().waitFor({ state: 'attached' });
  const lines = await page.locator('[data-line]').count();
  expect(lines).toBeGreaterThan(5);
  expect(await page.evaluate<number | null>('linesAtFirst')).toBe(lines);
  await page.locator('[data-state=delivered][aria-current=step]').waitFor();
  // The page may lie open for hours.
  const endless = `document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime === Infinity).length`;
  await eventually('rest', async () => (await page.evaluate(endless)) === 0 || undefined);
});
