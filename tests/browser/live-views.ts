import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startServiceOnServer, TEST_KEY } from '../support/service.ts';
import { PATIENCE_MS } from './chromium.ts';

/** Numbers of simulated emails by what becomes of them: a service that has been at work for a while. */
const SENT = { delivered: 60, opened: 14, clicked: 6, 'bounced-transient': 5, bounced: 4, complained: 2 };
const HOUR_MS = 3_600_000;

/** A service with actors in most states, and the id of an email that was retried. */
export interface BusyService extends AsyncDisposable {
  readonly service: Service;
  readonly retried: string;
}

/** Starts a service and sends what the views show. */
export async function startBusyService(): Promise<BusyService> {
  const service = await startServiceOnServer({
    env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '0' },
  });
  const api = createClient(service.url, TEST_KEY);
  const send = async (outcome: string, more: object = {}): Promise<string> => {
    const { status, body } = await api.post('/v1/emails', {
      from: 'shop@example.com',
      to: `${outcome}@simulator.svc.test`,
      subject: 'Your order has shipped',
      text: 'It is on its way.',
      ...more,
    });
    if (status !== 202) throw new Error(`${outcome} was answered with ${status}.`);
    return body.data.id;
  };
  const url = 'https://example.com/hooks/mail';
  await api.post('/v1/webhooks', { url, events: ['bounced', 'complained'] });
  for (const [outcome, count] of Object.entries(SENT))
    for (let sent = 0; sent < count; sent++) await send(outcome);
  for (let hours = 1; hours <= 12; hours++) {
    const id = await send('delivered', { scheduledAt: new Date(Date.now() + hours * HOUR_MS).toISOString() });
    if (hours % 4 === 0) await api.delete(`/v1/emails/${id}`);
  }
  const retried = await send('deferred');
  const isDelivered = async () =>
    (await api.get(`/v1/emails/${retried}`)).body.data.status === 'delivered' || undefined;
  await eventually('the retries', isDelivered);
  return { service, retried, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** The page without a session. */
export async function signedOut(
  browser: Browser,
  { url }: Service,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  // Laying a page out takes its time on a busy machine; what hangs is ended by PATIENCE.
  context.setDefaultTimeout(PATIENCE_MS);
  context.setDefaultNavigationTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(`${url}/inspector`);
  await page.getByLabel('API key').waitFor();
  return page;
}

/** A browser that is signed in with a test key. */
export async function signedIn(
  browser: Browser,
  service: Service,
  options: BrowserContextOptions,
): Promise<Page> {
  const page = await signedOut(browser, service, options);
  await page.getByLabel('API key').fill(TEST_KEY);
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ state: 'attached' });
  return page;
}

/** One view of the page: its address behind the mark of the query, and what tells that it is there. */
export interface View {
  readonly query: string;
  readonly isReady: (page: Page) => Promise<unknown>;
}

const appears = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();

/** Every view that a member can open. */
export const viewsOf = ({ retried }: BusyService): Readonly<Record<string, View>> => ({
  all: { query: '', isReady: appears('[data-count=delivered]:has-text("8")') },
  email: { query: '?kind=email', isReady: appears('[data-count=delivered]:has-text("8")') },
  domain: { query: '?kind=domain', isReady: appears('[data-state=verified]') },
  list: { query: '?kind=email&state=scheduled', isReady: appears('[data-actor]') },
  delivered: { query: '?kind=email&state=delivered', isReady: appears('[data-actor]') },
  deliveries: { query: '?kind=webhookDelivery&state=scheduled', isReady: appears('section h2') },
  empty: {
    query: '?kind=email&state=deferred',
    isReady: (page) => page.getByText('No actors in this state').waitFor(),
  },
  search: { query: `?kind=email&state=id:${retried.slice(0, 8)}`, isReady: appears('[data-actor]') },
  life: { query: `?kind=email&id=${retried}`, isReady: appears('[data-life-state=delivered]') },
  missing: {
    query: '?kind=email&id=em_000000000000000000000000',
    isReady: (page) => page.getByText('No such actor').waitFor(),
  },
  shortcuts: {
    query: '',
    isReady: async (page) => {
      await page.locator('[data-count=delivered]:has-text("8")').first().waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
});
