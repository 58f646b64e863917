import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import postgres from 'postgres';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import {
  EXECUTABLE,
  printed,
  type Service,
  startService,
  startServiceOnServer,
  TEST_KEY,
} from '../support/service.ts';
import { openChromium, PATIENCE_MS } from './chromium.ts';
import { placeOf } from './dashboard.ts';
import { inspect, pictureOf } from './looks.ts';

let service: Service;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    startServiceOnServer({
      env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '0' },
    }),
    openChromium(),
    EXECUTABLE ? null : openPack(),
  ]);
});

afterAll(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

async function send(to: string, more: object = {}): Promise<string> {
  const mail = {
    from: 'a@example.com',
    to: `${to}@simulator.svc.test`,
    subject: 'Hello',
    text: 'x',
    ...more,
  };
  const { status, body } = await createClient(service.url, TEST_KEY).post('/v1/emails', mail);
  expect(status).toBe(202);
  return body.data.id;
}

/**
 * A page behind the door. What a browser complains about (the policy, a script) fails the test that asked for
 * the page.
 */
async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  // Laying a page out takes its time on a busy machine; what hangs is ended by PATIENCE.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text());
  });
  await page.goto(`${service.url}${path}`);
  await page.getByLabel('API key').fill(TEST_KEY);
  await page.keyboard.press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: 'Live' })
    .or(page.locator('[data-environment]'))
    .first()
    .waitFor();
  await page.getByRole('navigation', { name: 'Machines' }).waitFor();
  return {
    page,
    complaints,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

const disposable = (server: ReturnType<typeof Bun.serve>) => ({
  url: server.url.href,
  [Symbol.dispose]: () => void server.stop(true),
});

const picture = (page: Page, name: string) => pictureOf(page, `live-view/${name}`);
/** The number of things on the page that move for ever. */
const ENDLESS = `document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime === Infinity).length`;
const state = (page: Page) => page.locator('[data-life-state]');
/** The parts of a life come one after the other. */
const hasAsMany = (what: Locator, count: number) =>
  eventually(`${count} of ${what}`, async () => (await what.count()) === count || undefined);

describe('the live view in a browser', () => {
  test('a single instance is shown alone, and its moves without its name', async () => {
    await using view = await open('/inspector');
    const { page } = view;
    await page.getByText('One instance has all roles').waitFor();
    await send('delivered');
    await page.getByRole('region', { name: 'Activity' }).getByText('report.received').first().waitFor();
    expect(await page.locator('[data-by]').count()).toBe(0);
    expect(view.complaints).toEqual([]);
  });

  test('the old address leads to the page of the application, which is all that a key or a link opens', async () => {
    await using view = await open('/inspector?kind=email&state=delivered');
    const { page } = view;
    expect(page.url()).toBe(`${service.url}/app/test/machines?kind=email&state=delivered`);
    await page.getByRole('region', { name: 'Actors in delivered' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()).toEqual([
      'State machines',
    ]);
    expect(view.complaints).toEqual([]);
    // The other environment is not the key's, and no other page is a guest's.
    await page.goto(`${service.url}/app/live/machines`);
    await page.getByRole('navigation', { name: 'Machines' }).waitFor();
    expect(page.url()).toBe(`${service.url}/app/test/machines`);
    await page.goto(`${service.url}/app/test/emails`);
    await page.getByLabel('Email address').or(page.getByText('No account exists yet')).first().waitFor();
    // Signed out, the page asks for a key again.
    await page.goto(`${service.url}/app/test/machines`);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    const [, ticket] = await printed(service, /live {2}\S+#open=(\S+)\s/);
    await page.goto(`${service.url}/inspector?kind=domain#open=${ticket}`);
    await page.getByRole('region', { name: 'Machine domain' }).waitFor();
    expect(placeOf(page)).toBe(`${service.url}/app/live/machines?kind=domain`);
  });

  test('an email moves to delivered on the page', async () => {
    await using view = await open('/inspector?kind=email');
    const { page } = view;
    await page.locator('[data-state=delivered]').waitFor();
    const id = await send('delivered');
    await page.locator('[data-count=delivered]', { hasText: '2' }).waitFor();
    await page.locator('[data-state=delivered]').click();
    await page.locator(`[data-actor=${id}]`).click();
    await state(page).filter({ hasText: 'delivered' }).waitFor();
    await hasAsMany(page.locator('[data-step]'), 3);
    await hasAsMany(page.locator('.line-group.taken'), 4);
    // The page may lie open for hours.
    await hasAsMany(page.locator('.halo'), 1);
    await eventually('rest', async () => (await page.evaluate(ENDLESS)) === 0 || undefined);
    await picture(page, 'life');
    expect(view.complaints).toEqual([]);
  });

  test('a scheduled email counts down, and ends on the open page when it is cancelled', async () => {
    const id = await send('delivered', { scheduledAt: new Date(Date.now() + 7_200_000).toISOString() });
    await using view = await open(`/inspector?kind=email&id=${id}`);
    const { page } = view;
    await state(page).filter({ hasText: 'scheduled' }).waitFor();
    expect(await page.locator('[data-countdown]').textContent()).toMatch(/^(2h|1h 59m)$/);
    await picture(page, 'scheduled');
    await createClient(service.url, TEST_KEY).delete(`/v1/emails/${id}`);
    await state(page).filter({ hasText: 'cancelled' }).waitFor();
    await page.locator('[data-line="scheduled → cancelled"].taken').waitFor();
    await hasAsMany(page.locator('[data-countdown]'), 0);
    await picture(page, 'cancelled');
    expect(view.complaints).toEqual([]);
  });

  test('a life with retries is replayed with the keyboard', async () => {
    const id = await send('deferred');
    await using view = await open(`/inspector?kind=email&id=${id}`, { colorScheme: 'dark' });
    const { page } = view;
    await state(page).filter({ hasText: 'delivered' }).waitFor();
    const current = page.locator('[aria-current=step]');
    await page.keyboard.press('Home');
    await page.locator('[data-step=spawned][aria-current=step]').waitFor();
    await hasAsMany(page.locator('.line-group.taken'), 2);
    await page.keyboard.press('ArrowRight');
    await current.and(page.locator('[data-step="attempt.completed"]')).waitFor();
    await page.locator('[data-line="sending → deferred"].current').waitFor();
    await picture(page, 'replay-dark');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.locator('[data-step="after.backoff"][aria-current=step]').first().waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Replay' }).waitFor();
    await page.keyboard.press('End');
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toContain('7 of 7');
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Actors in delivered' }).waitFor();
    expect(view.complaints).toEqual([]);
  });

  test('the retries of a webhook delivery are replayed', async () => {
    let asked = 0;
    // The first attempt is refused once the page shows it: a busy machine opens no page within the backoff.
    const { promise: isShown, resolve: refuse } = Promise.withResolvers<void>();
    const fetch = async () => {
      const isFirst = asked++ === 0;
      if (isFirst) await isShown;
      return new Response(null, { status: isFirst ? 500 : 204 });
    };
    using receiver = disposable(Bun.serve({ hostname: '127.0.0.1', port: 0, fetch }));
    const client = createClient(service.url, TEST_KEY);
    const made = await client.post('/v1/webhooks', { url: `${receiver.url}hook`, events: ['delivered'] });
    expect(made.status).toBe(201);
    await using view = await open('/inspector?kind=webhookDelivery');
    const { page } = view;
    await send('delivered');
    await eventually('the first attempt', () => asked > 0 || undefined);
    await page.goto(`${service.url}/inspector?kind=webhookDelivery&state=posting`);
    await page.locator('[data-actor]').first().click();
    await state(page).filter({ hasText: 'posting' }).waitFor();
    refuse();
    await state(page).filter({ hasText: 'scheduled' }).waitFor();
    await page.locator('[data-countdown]').waitFor();
    // The backoff of five seconds is the real one.
    await state(page).filter({ hasText: 'success' }).waitFor();
    const steps = await page
      .locator('[data-step]')
      .evaluateAll((all) => all.map((one) => (one as never as { dataset: { step: string } }).dataset.step));
    expect(steps.filter((step) => step === 'attempt.failed')).toHaveLength(1);
    expect(steps.at(-1)).toBe('attempt.succeeded');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.locator('[data-line="posting → scheduled"].current').waitFor();
    await picture(page, 'webhook-retry');
    expect(view.complaints).toEqual([]);
    await client.delete(`/v1/webhooks/${made.body.data.id}`);
  });

  test('every control can be reached by keyboard', async () => {
    const id = await send('delivered');
    await using view = await open('/inspector');
    const { page } = view;
    await page.keyboard.press('1');
    await page.getByRole('region', { name: 'Machine email' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'em_' }).waitFor();
    await page.getByLabel('Find an actor by its ID').fill(id);
    await page.keyboard.press('Enter');
    await state(page).waitFor();
    await page.keyboard.press('0');
    await page.getByRole('region', { name: 'All machines' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('[data-state=delivered]').first().focus();
    const outline = await page
      .locator('[data-state=delivered]')
      .first()
      .evaluate(
        (node) =>
          (
            globalThis as never as { getComputedStyle(of: unknown): { outlineStyle: string } }
          ).getComputedStyle(node).outlineStyle,
      );
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Actors in delivered' }).waitFor();
    expect(view.complaints).toEqual([]);
  });

  test('the theme follows the system until one is chosen', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using view = await open('/inspector', { colorScheme });
      const { page } = view;
      await page.locator('[data-state=delivered]').waitFor();
      const background = () =>
        page
          .locator('body')
          .evaluate(
            (node) =>
              (
                globalThis as never as { getComputedStyle(of: unknown): { backgroundColor: string } }
              ).getComputedStyle(node).backgroundColor,
          );
      const bySystem = await background();
      expect(bySystem).toBe(colorScheme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(11, 13, 17)');
      await send('bounced');
      await page.locator('[data-count=failed]').first().filter({ hasNotText: /^0$/ }).waitFor();
      await picture(page, `all-${colorScheme}`);
      // system → light → dark
      await page.keyboard.press('t');
      if (colorScheme === 'light') await page.keyboard.press('t');
      expect(await background()).not.toBe(bySystem);
      await page.reload();
      await page.locator('[data-state=delivered]').waitFor();
      expect(await background()).not.toBe(bySystem);
    }
  });

  test('a narrow window shows everything without scrolling sideways', async () => {
    const id = await send('deferred');
    await using view = await open(`/inspector?kind=email&id=${id}`, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const { page } = view;
    await state(page).waitFor();
    const widths = await page.locator('body').evaluate((body) => {
      const { scrollWidth, clientWidth } = body as never as { scrollWidth: number; clientWidth: number };
      return scrollWidth - clientWidth;
    });
    expect(widths).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Previous step (←)' }).click();
    await picture(page, 'narrow');
    expect(view.complaints).toEqual([]);
  });

  test('the page shows who lives, and what all instances do', async () => {
    const database = await createTestDatabase();
    const env = {
      DATABASE_URL: database.url,
      SECRET_KEY: 's'.repeat(32),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
    };
    const working = await startService({ env });
    const watching = await startService({ env, args: ['--only', 'http'] });
    const sql = postgres(database.url, { max: 1 });
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    });
    try {
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      await page.goto(`${watching.url}/inspector`);
      await page.getByLabel('API key').fill(TEST_KEY);
      await page.keyboard.press('Enter');
      const instances = page.getByRole('region', { name: 'Instances' }).locator('[data-instance]');
      await instances.nth(1).waitFor();
      const told = await instances.allInnerTexts();
      expect(told[0]).toContain('all roles');
      expect(told[1]).toMatch(/http\s+this page\s+version/);
      const others = await instances.first().getAttribute('data-instance');
      const api = createClient(working.url, TEST_KEY);
      const moves = page.locator(`[data-by="${others}"]`);
      const mail = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'Hello', text: 'x' };
      // It hears of the viewer within a second or two.
      await eventually(
        'a move of the other instance is listed',
        async () => {
          if ((await moves.count()) > 0) return true;
          await api.post('/v1/emails', mail);
          return undefined;
        },
        { everyMs: 500 },
      );
      // As an instance would tell it that has carried out more than it lists.
      const news = { times: { email: 1_201 }, before: {}, moves: [], sample: [], changed: {} };
      await sql`insert into live_news (workspace_id, livemode, instance_id, number, at, news)
        select workspace_id, livemode, 'busy', 1, clock_timestamp(), ${sql.json(news)} from live_watches`;
      await page.getByText(/1,\d+ moves of the last minute were not shown/).waitFor();
      await inspect(page, 'live-view-instances');
      await working.kill();
      await sql`update service_instances set seen_at = seen_at - interval '36 seconds'
        where left(id, 8) = ${others ?? ''}`;
      await page.getByText('No running instance has the roles engine and delivery').waitFor();
    } finally {
      await context.close();
      await sql.end();
      await Promise.all([working, watching].map((each) => each[Symbol.asyncDispose]()));
      await database.close();
    }
  });

  test('the page reports a lost connection and reconnects by itself', async () => {
    const own = await startService({ env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' } });
    try {
      const context = await browser.newContext();
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      await page.goto(`${own.url}/inspector?kind=email`);
      await page.getByLabel('API key').fill(TEST_KEY);
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      await own.stop();
      await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor();
      await picture(page, 'disconnected');
      const again = await startService({
        port: own.port,
        dataDir: own.dataDir,
        env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' },
      });
      try {
        await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      } finally {
        await again[Symbol.asyncDispose]();
        await context.close();
      }
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });
});
