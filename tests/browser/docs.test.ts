import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openReferencePack } from '../../src/web/dashboard/pack.ts';
import { PAGE_GROUPS } from '../../src/web/docs/pages/pages.ts';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';
import { inspect, violations } from './looks.ts';

let site: Dashboard;

beforeAll(async () => {
  [site] = await Promise.all([openDashboard(), openReferencePack()]);
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** One of each kind of page. */
const LOOKED_AT = ['/docs/guides', '/docs/guides/nodemailer', '/docs/errors', '/docs/life-of-an-email'];
const PAGES = PAGE_GROUPS.flatMap(({ pages }) => pages.map(({ path }) => path)).filter(
  (path) => path !== '/openapi.json',
);

describe.each(['light', 'dark'] as const)('the reference, %s', (colorScheme) => {
  test('is searched, and tries a request with a test key that is kept nowhere', async () => {
    const page = await site.newcomer();
    await page.emulateMedia({ colorScheme });
    await page.goto(`${site.service.url}/docs`);
    await page.getByRole('heading', { name: 'Posthorn', exact: true }).waitFor();
    expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`);

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('send or schedule');
    await page
      .getByRole('option', { name: /Send or schedule an email/ })
      .first()
      .click();
    await page.waitForURL(/#tag\/emails\/sendEmail$/);
    const operation = page.locator('section[id$="sendEmail"]');
    await operation.getByRole('heading', { name: 'Send or schedule an email' }).waitFor();
    expect(await operation.textContent()).toContain("curl -X POST '");
    // A narrow window has a bar of its own. The colours of either theme are looked at in one width.
    await page.setViewportSize({ width: colorScheme === 'dark' ? 390 : 1440, height: 900 });
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });

    await operation.getByRole('button', { name: /Test Request/ }).click();
    const client = page.getByRole('dialog');
    const sent = page.waitForResponse((reply) => reply.url().endsWith('/v1/emails'));
    await client.getByPlaceholder('Token').fill(TEST_KEY);
    await client.getByRole('button', { name: /Send post request/ }).click();
    expect((await sent).status()).toBe(202);
    await client.getByText('202').first().waitFor();

    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(String(kept)).not.toContain(TEST_KEY);
    expect(page.url()).not.toContain(TEST_KEY);
    await page.context().close();
    expect(site.complaints).toEqual([]);
  });
});

test('the reference refuses a live key before anything is sent', async () => {
  const page = await site.newcomer();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${site.service.url}/docs#tag/emails/sendEmail`);
  const operation = page.locator('section[id$="sendEmail"]');
  await operation.getByRole('button', { name: /Test Request/ }).click();
  const client = page.getByRole('dialog');
  await client.getByPlaceholder('Token').fill(LIVE_KEY);
  await client.getByRole('button', { name: /Send post request/ }).click();
  await page.getByText('Use a test key').first().waitFor();
  expect(asked).not.toContain('/v1/emails');
  await page.context().close();
  // The library tells of the refusal on the console too.
  expect(site.complaints.splice(0)).toEqual([expect.stringContaining('Use a test key')]);
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

test('the search of the guides leads to a page, an error code and a request', async () => {
  const page = await site.newcomer();
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
  await page.context().close();
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
