import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ContactSheet } from './contact-sheet.ts';
import { type Dashboard, openDashboard, ownerPage } from './dashboard.ts';
import { fillWorkspace, type Places } from './filled.ts';
import { sidewaysOf } from './looks.ts';

// Every page of a workspace in use: narrow, with longer words, and with PICTURES=1 on contact sheets to be
// looked at.

/** The names of the pages, as they are registered: its code is of a browser. */
const REGISTERED = join(import.meta.dir, '../../src/web/dashboard/web/application/pages/pages.ts');
const NAMES = [...readFileSync(REGISTERED, 'utf8').matchAll(/^ {4}name: '([a-z-]*)',$/gm)].map(
  ([, name = '']) => name,
);

// Another way to write that file would leave every page unseen.
if (NAMES.length < 20) throw new Error(`Only ${NAMES.length} names of pages were found in pages.ts.`);

let dashboard: Dashboard;
let page: Page;
let places: Places;
beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
  const lists = NAMES.map((name) => [name || 'overview', `live/${name}`]);
  places = { ...Object.fromEntries(lists), ...(await fillWorkspace(dashboard, page)) };
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

/** Opens a page and waits until nothing of it is a placeholder. */
async function open(address: string): Promise<void> {
  await page.goto(`${dashboard.service.url}/app/${address}`);
  await page.locator('main h1, main [role=tablist], main canvas, main svg').first().waitFor();
  await page.locator('main [aria-busy=true], main .skeleton').first().waitFor({ state: 'detached' });
}

const each = async (look: (name: string) => Promise<void>): Promise<void> => {
  for (const [name, address] of Object.entries(places)) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(address);
    await look(name);
  }
};

/**
 * Makes every text of the page a third longer, as German or Finnish would be, with letters beyond ASCII.
 * Addresses, code and messages are in no language.
 */
const LONGER = `(() => {
  const letters = { a: 'å', e: 'é', i: 'î', o: 'ö', u: 'ü', A: 'Å', E: 'É', O: 'Ö', U: 'Ü' };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  for (const text of texts) {
    const words = text.data.trim();
    if (!/[A-Za-z]{2}/.test(words) || /[@/]|\\w_\\w/.test(words)) continue;
    if (text.parentElement.closest('script, style, code, pre, textarea, .cm-editor, [contenteditable]')) continue;
    const longer = words.replace(/[aeiouAEOU]/g, (letter) => letters[letter]);
    text.data = longer + ' ' + longer.slice(0, Math.ceil(words.length / 3) - 1);
  }
})()`;

/** Has every time that passes be as long as it becomes. */
const OLDER = `for (const each of document.querySelectorAll('main time'))
  if (/^(just now|\\d+ \\w+ ago)$/.test(each.textContent)) each.firstChild.data = '59 minutes ago'`;

/** Buttons and headings whose words do not fit into them. */
const CUT = `[...document.querySelectorAll('main button, main a.button, main [role=tab]')]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
  .map((each) => each.textContent.trim())`;

/** The first columns with a heading that have less room than their words need, with their widths. */
const NARROW = `[...document.querySelectorAll('main table')].filter((each) => each.checkVisibility()).flatMap((table) => {
  const headings = [...table.querySelectorAll('thead th')].filter((each) => each.checkVisibility());
  const first = headings.find((each) => each.textContent.trim() !== '');
  return first && first.clientWidth < 140 ? [first.textContent.trim() + ' ' + first.clientWidth] : [];
})`;

/** The lists whose actions do not fit into their cells, or whose last column touches the edge. */
const TIGHT = `[...document.querySelectorAll('main table')].filter((each) => each.checkVisibility()).flatMap((table) => {
  const cells = [...table.querySelectorAll('tbody td')].filter((each) => each.checkVisibility());
  const cut = cells.filter((each) => each.querySelector('button') && each.scrollWidth > each.clientWidth);
  const last = [...table.querySelectorAll('thead th')].filter((each) => each.checkVisibility()).at(-1);
  const space = last ? parseFloat(getComputedStyle(last).paddingRight) : 16;
  return cut.length > 0 || space < 16 ? [[table.ariaLabel, cut.map((each) => each.textContent), space]] : [];
})`;

/** The open page in the navigation, where it is out of sight. */
const OUT_OF_SIGHT = `[...document.querySelectorAll('nav[aria-label=Pages] [aria-current]')]
  .filter((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    const pages = each.closest('nav').getBoundingClientRect();
    return top < pages.top || bottom > pages.bottom;
  })
  .map((each) => each.textContent)`;

// Each page is opened once for all: to open one takes more of the processor than all that is looked at. One
// run names what is wrong with any of them.
test('no page scrolls sideways at 320 pixels, cuts its lists, or breaks where words are a third longer', async () => {
  const wrong: unknown[] = [];
  await each(async (name) => {
    const look = async (width: number, looks: Record<string, (page: Page) => Promise<unknown>>) => {
      await page.setViewportSize({ width, height: 900 });
      for (const [what, found] of Object.entries(looks)) {
        const seen = await found(page);
        if (seen !== 0 && !Bun.deepEquals(seen, [])) wrong.push([name, width, what, seen]);
      }
    };
    const asked = (script: string) => (page: Page) => page.evaluate(script);
    await look(1440, { 'is out of sight in the navigation': asked(OUT_OF_SIGHT) });
    for (const width of [1280, 1024, 768]) await look(width, { 'has a narrow column': asked(NARROW) });
    await look(390, { 'has a tight list': asked(TIGHT) });
    await page.evaluate(OLDER);
    await look(320, { 'scrolls sideways': sidewaysOf });
    await page.evaluate(LONGER);
    for (const width of [1440, 768, 390, 320])
      await look(width, { 'scrolls sideways with longer words': sidewaysOf, 'cuts words': asked(CUT) });
  });
  expect(wrong).toEqual([]);
});

test('every page is on the contact sheets where pictures are asked for, and none complains', async () => {
  if (process.env.PICTURES) {
    const sheet = new ContactSheet();
    await each((name) => sheet.add(page, name));
    const paper = await dashboard.browser.newPage();
    await sheet.write(paper);
    await paper.close();
  }
  expect(dashboard.complaints).toEqual([]);
});
