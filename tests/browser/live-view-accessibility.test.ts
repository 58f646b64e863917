import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { openPack } from '../../src/dashboard/pack.ts';
import { openChromium } from './chromium.ts';
import { type BusyService, signedIn, startBusyService, viewsOf } from './live-views.ts';

// PICTURES=1 leaves a picture of each view in tests/artefacts/views, to be looked at.
const ARTEFACTS = join(import.meta.dir, '../artefacts/views');
const THEMES = ['light', 'dark'] as const;
const WIDTHS = { 1440: 900, 768: 1024, 390: 844 } as const;
const LOOKS = [
  ['light', 1440],
  ['dark', 768],
  ['light', 390],
] as const;
/** The names of the views; the ids in their addresses are known once the service runs. */
const NAMES = Object.keys(viewsOf({ retried: '' } as BusyService));

let busy: BusyService;
let browser: Browser;

beforeAll(async () => {
  await openPack();
  [busy, browser] = await Promise.all([startBusyService(), openChromium()]);
});
afterAll(async () => {
  await browser?.close();
  await busy?.[Symbol.asyncDispose]();
});

/** Breaches of the WCAG and of good practice, each with its element and what is wrong. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return (await page.evaluate(`axe.run(document, {
    resultTypes: ['violations'],
    rules: { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } },
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)))`)) as string[];
}

async function pictureOf(page: Page, name: string): Promise<void> {
  if (!process.env.PICTURES) return;
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}

const sidewaysOf = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

// Colours depend on the theme and layout on the width, so that each theme and each width is looked at, but not every pair.
describe.each(LOOKS)('the live view in the %s theme, %d pixels wide', (colorScheme, width) => {
  let page: Page;
  beforeAll(async () => {
    const viewport = { width, height: WIDTHS[width] };
    page = await signedIn(browser, busy.service, { viewport, colorScheme });
  });
  afterAll(() => page?.context().close());

  test.each(NAMES)('%s breaks no rule of accessibility, and does not scroll sideways', async (name) => {
    const view = viewsOf(busy)[name];
    await page.goto(`${busy.service.url}/inspector${view?.query ?? ''}`);
    await view?.isReady(page);
    await pictureOf(page, `${name}-${width}-${colorScheme}`);
    expect(await violations(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
  });
});

test.each(THEMES)('the sign-in page in the %s theme breaks no rule of accessibility', async (colorScheme) => {
  for (const [width, height] of Object.entries(WIDTHS)) {
    const page = await browser.newPage({ viewport: { width: Number(width), height }, colorScheme });
    await page.goto(`${busy.service.url}/inspector`);
    await page.getByLabel('API key').waitFor();
    await pictureOf(page, `sign-in-${width}-${colorScheme}`);
    expect(await violations(page)).toEqual([]);
    await page.close();
  }
});
