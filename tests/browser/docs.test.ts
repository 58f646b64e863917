import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { openReferencePack } from '../../src/web/dashboard/pack.ts';
import { PAGE_GROUPS } from '../../src/web/docs/pages/pages.ts';
import { EXECUTABLE, LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';
import { inspect, violations } from './looks.ts';

let site: Dashboard;

beforeAll(async () => {
  [site] = await Promise.all([openDashboard(), EXECUTABLE ? null : openReferencePack()]);
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** One of each kind of page. */
const LOOKED_AT = ['/docs/guides', '/docs/guides/nodemailer', '/docs/errors', '/docs/life-of-an-email'];
const PAGES = PAGE_GROUPS.flatMap(({ pages }) => pages.map(({ path }) => path)).filter(
  (path) => path !== '/openapi.json',
);

type Theme = 'light' | 'dark';

/** Waits for the reference, in that theme. */
async function drawn(page: Page, theme: Theme): Promise<void> {
  await page.getByRole('heading', { name: 'Posthorn', exact: true }).waitFor();
  await page.locator(`body.${theme}-mode`).waitFor();
}

const sendEmail = (page: Page) => page.locator('section[id$="sendEmail"]');

/** Breaches of the operation, which is shown at that width. */
async function violationsAt(page: Page, width: number): Promise<readonly string[]> {
  await sendEmail(page).getByRole('heading', { name: 'Send or schedule an email' }).waitFor();
  await sendEmail(page).filter({ hasText: "curl -X POST '" }).waitFor();
  await page.setViewportSize({ width, height: 900 });
  return await violations(page);
}

describe('the reference', () => {
  test('is searched, tries a request with a test key that is kept nowhere, and refuses a live key', async () => {
    const page = await site.newcomer();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${site.service.url}/docs`);
    await drawn(page, 'light');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('send or schedule');
    await page
      .getByRole('option', { name: /Send or schedule an email/ })
      .first()
      .click();
    await page.waitForURL(/#tag\/emails\/sendEmail$/);
    expect(await violationsAt(page, 1440)).toEqual([]);

    await sendEmail(page)
      .getByRole('button', { name: /Test Request/ })
      .click();
    const client = page.getByRole('dialog');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await client.getByPlaceholder('Token').fill(LIVE_KEY);
    await client.getByRole('button', { name: /Send post request/ }).click();
    await page.getByText('Use a test key').first().waitFor();
    expect(asked).not.toContain('/v1/emails');
    // The library tells of the refusal on the console too.
    expect(site.complaints.splice(0)).toEqual([expect.stringContaining('Use a test key')]);

    const sent = page.waitForResponse((reply) => reply.url().endsWith('/v1/emails'));
    await client.getByPlaceholder('Token').fill(TEST_KEY);
    await client.getByRole('button', { name: /Send post request/ }).click();
    expect((await sent).status()).toBe(202);
    await client.getByText('202').first().waitFor();

    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    for (const key of [TEST_KEY, LIVE_KEY]) {
      expect(String(kept)).not.toContain(key);
      expect(page.url()).not.toContain(key);
    }
    await page.context().close();
    expect(site.complaints).toEqual([]);
  });
});

test.each(LOOKED_AT)('%s can be read by everybody, at every width and in both themes', async (path) => {
  const page = await site.newcomer();
  await page.goto(`${site.service.url}${path}`);
  await inspect(page, path.slice(1).replaceAll('/', '-'));
  await page.context().close();
  expect(site.complaints).toEqual([]);
});

test('no page scrolls sideways on a telephone', async () => {
  const page = await site.newcomer();
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of PAGES) {
    await page.goto(`${site.service.url}${path}`);
    expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 390]);
  }
  await page.context().close();
  expect(site.complaints).toEqual([]);
});

// To draw the reference takes six seconds of processor time, so that the one which the search leads to is
// looked at as well.
test('the search of the guides leads to a page, an error code and a request, on a telephone, in the dark', async () => {
  const page = await site.newcomer();
  await page.emulateMedia({ colorScheme: 'dark' });
  // The index comes after the first Enter, as over a slow network.
  const entered = Promise.withResolvers<void>();
  await page.route('**/docs/search.json', async (route) => {
    await entered.promise;
    await route.continue();
  });
  await page.goto(`${site.service.url}/docs/guides`);
  for (const [words, where] of [
    ['django', '/docs/guides/django'],
    ['rate_limited', '/docs/errors#RATE_LIMITED'],
    ['cancel a scheduled email', '/docs#tag/emails/cancelEmail'],
  ] as const) {
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: 'Search' }).fill(words);
    await page.keyboard.press('Enter');
    entered.resolve();
    await page.waitForURL(`${site.service.url}${where}`);
    if (where.startsWith('/docs#'))
      await page.getByRole('heading', { name: 'Cancel a scheduled email' }).waitFor();
  }
  await drawn(page, 'dark');
  await page.goto(`${site.service.url}/docs#tag/emails/sendEmail`);
  // A narrow window has a separate bar. One width is enough for the colours of each theme.
  expect(await violationsAt(page, 390)).toEqual([]);
  await page.context().close();
  expect(site.complaints).toEqual([]);
});

test('code is copied as it is shown, and the theme stays chosen', async () => {
  const page = await site.newcomer();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${site.service.url}/docs/guides/nodemailer`);
  const figure = page.locator('figure[data-file="send.mjs"]');
  await figure.getByRole('button', { name: 'Copy' }).click();
  await figure.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    (await figure.locator('code').textContent()) ?? '',
  );
  await page.getByRole('button', { name: /^Theme/ }).click();
  await page.getByRole('button', { name: 'Theme: Light' }).click();
  await page.goto(`${site.service.url}/docs/errors`);
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.context().close();
});
