import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openChromium, PATIENCE_MS } from './chromium.ts';
import { inspect } from './looks.ts';

// The colours of the widest view in the dark are looked at where the narrowest did not show them. Each of
// these is shown nowhere else.

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

const DIM = 'color: #444; background: #222';
const DARK = 'prefers-color-scheme: dark';
/** Rules of style by what they do to the second paragraph. */
const FAULTS: Readonly<Record<string, string>> = {
  'is hidden in the narrowest': `@media (${DARK}) { p + p { ${DIM} } } @media (max-width: 500px) { p + p { display: none } }`,
  'has other colours there': `@media (${DARK}) and (min-width: 1000px) { p + p { ${DIM} } }`,
  'lies on another ground there': `@media (${DARK}) and (min-width: 1000px) { main { background: #ddd } }`,
  'is clipped there': `@media (${DARK}) { p + p { ${DIM} } }
    @media (max-width: 500px) { p + p { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) } }`,
};

const inspected = async (style: string): Promise<string> => {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setContent(`<!doctype html><html lang="en"><title>Looks</title>
    <style>:root { color: #111; background: #fff } @media (${DARK}) { :root { color: #eee; background: #111 } } ${style}</style>
    <main><h1>Looks</h1><p>One.</p><p>Two.</p></main></html>`);
  const said = await inspect(page, 'looks').then(
    () => '',
    (error: Error) => error.message,
  );
  await page.close();
  return said;
};

test('a page without a fault has none', async () => {
  expect(await inspected('')).toBe('');
});

test.each(Object.entries(FAULTS))('a paragraph that %s is found', async (_, style) => {
  expect(await inspected(style)).toContain('color-contrast');
});
