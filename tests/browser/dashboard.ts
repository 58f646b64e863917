import { expect } from 'bun:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { eventually } from '../support/eventually.ts';
import { insistently } from '../support/insistent.ts';
import {
  EXECUTABLE,
  printed,
  type Service,
  type ServiceOptions,
  startServiceOnServer,
} from '../support/service.ts';
import { openChromium, PATIENCE_MS } from './chromium.ts';

export const PASSWORD = 'correct horse battery staple';
export const ADA = 'ada@acme.example';

/** A resource as its POST answers. */
export interface Resource {
  readonly id: string;
}

/** A service with its dashboard in a real Chromium. */
export interface Dashboard extends AsyncDisposable {
  readonly service: Service;
  readonly browser: Browser;
  /** The complaints of browsers: the policy, a script, a request to elsewhere. It has to stay empty. */
  readonly complaints: string[];
  /**
   * A separate browser without a session, on a computer in that time zone, of a person who reads that
   * language.
   */
  newcomer(computer?: Computer): Promise<Page>;
}

type Computer = Pick<BrowserContextOptions, 'timezoneId' | 'locale'>;

/**
 * Starts a service, of the executable where one was built, and a Chromium, unless there is one already. The
 * service uses a database of the shared server unless `start` chooses another.
 */
export async function openDashboard(
  { env, ...options }: ServiceOptions = {},
  running?: Browser,
  start = startServiceOnServer,
): Promise<Dashboard> {
  // The executable has the application inside.
  if (!EXECUTABLE) await openPack();
  const [service, browser] = await Promise.all([
    start({ ...options, env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', ...env } }),
    running ?? openChromium(),
  ]);
  const complaints: string[] = [];
  return {
    service,
    browser,
    complaints,
    newcomer: async (computer) => {
      const usual = { reducedMotion: 'reduce', locale: 'en', timezoneId: 'UTC' } as const;
      const context = await browser.newContext({ ...usual, ...computer });
      // Laying a page out takes its time on a busy machine; what hangs is ended by PATIENCE.
      context.setDefaultTimeout(PATIENCE_MS);
      context.setDefaultNavigationTimeout(PATIENCE_MS);
      const opened = await context.newPage();
      opened.on('pageerror', ({ stack, message }) => complaints.push(stack ?? message));
      opened.on('console', (message) => {
        // The browser reports a request that was refused, and a socket whose session has just ended.
        const isRefusal = /Failed to load resource|HTTP Authentication failed/.test(message.text());
        if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
      });
      opened.on('request', (request) => {
        if (!request.url().startsWith(service.url)) complaints.push(request.url());
      });
      return opened;
    },
    [Symbol.asyncDispose]: async () => {
      if (!running) await browser.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** The address of a link of the service, which prints it with the address that others would use. */
export const opens = ({ url }: Service, link: string): string => url + link.slice(link.indexOf('/app/'));

/** The printed link that makes the first owner. */
export async function setupLink(service: Service): Promise<string> {
  const [link] = await printed(service, /\S+\/app\/setup#token=\S+(?=\s)/);
  return opens(service, link);
}

/** Makes the first owner, and signs that page in. */
async function signUp({ service }: Dashboard, page: Page): Promise<void> {
  const [, token] = (await setupLink(service)).split('#token=');
  await page.goto(`${service.url}/app/setup`);
  const owner = { token, email: ADA, password: PASSWORD, name: 'Ada Lovelace', workspaceName: 'Acme' };
  const { status } = await asMember(page, 'POST', 'setup', owner);
  expect(status).toBe(201);
}

/** A browser in which the first owner is signed in. */
export async function ownerPage(dashboard: Dashboard): Promise<Page> {
  const page = await dashboard.newcomer();
  await signUp(dashboard, page);
  return page;
}

/** Signs the owner in on a page that asks for it, without a mouse. */
export async function signIn(page: Page, password = PASSWORD): Promise<void> {
  await typeInto(page, { 'Email address': ADA, Password: password });
  await page.keyboard.press('Enter');
}

/** The link of an invitation that the member on that page makes. */
export async function invite(
  { service }: Dashboard,
  by: Page,
  email: string,
  role: 'viewer' | 'member' | 'admin',
): Promise<string> {
  const { data } = await asMember<{ url: string }>(by, 'POST', 'live/members/invitations', { email, role });
  return opens(service, data.url);
}

/** Asks the API of the dashboard as who is signed in on that page, until it has time for an answer. */
export async function asMember<Data = unknown>(
  page: Page,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly data: Data }> {
  const told = await insistently((key) =>
    page.evaluate(
      ([method, to, json, headers]) =>
        fetch(to, {
          method,
          ...(json !== null && { headers: { 'content-type': 'application/json', ...headers }, body: json }),
        }).then(async (reply) => ({
          status: reply.status,
          body: (await reply.json().catch(() => null)) as { readonly data?: unknown } | null,
        })),
      [
        method,
        `/app/api/${path}`,
        body ? JSON.stringify(body) : null,
        method === 'POST' ? { ...key } : {},
      ] as const,
    ),
  );
  return { status: told.status, data: told.body?.data as Data };
}

/**
 * Waits until an element has the focus. The content of a closed dialog can be found and cannot be focused,
 * like content that lies behind one that is closing.
 */
async function focusOn(target: Locator): Promise<void> {
  // Ends by PATIENCE where it is never there, which the loop would not.
  await target.waitFor({ state: 'attached' });
  await eventually('the focus', async () => {
    await target.focus();
    return (await target.evaluate((each) => each === each.ownerDocument.activeElement)) || undefined;
  });
}

/** Types into one field after the other, as a person without a mouse. */
export async function typeInto(page: Page, texts: Readonly<Record<string, string>>): Promise<void> {
  const [first = ''] = Object.keys(texts);
  await focusOn(page.getByLabel(first, { exact: true }));
  for (const [label, text] of Object.entries(texts)) {
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('id')).toBe(
      await page.getByLabel(label, { exact: true }).getAttribute('id'),
    );
    await focused.fill(text);
    await page.keyboard.press('Tab');
    // The button that shows a password follows it.
    if ((await page.locator(':focus').getAttribute('aria-controls')) !== null)
      await page.keyboard.press('Tab');
  }
}

/**
 * Waits for a toast. Its text may be part of a sentence elsewhere on the page, so only the corner of toasts
 * is read.
 */
export const waitForToast = (page: Page, text: string): Promise<void> =>
  page.locator('[data-toast]').getByText(text, { exact: true }).first().waitFor();

/**
 * Waits until no dialog is there. One that is closing has no role any more, while the page still counts it as
 * open, and a key that comes then opens nothing.
 */
export const withoutDialog = (page: Page): Promise<void> =>
  page.locator('dialog').first().waitFor({ state: 'detached' });

/**
 * Presses a key on an element once it has the focus: a key that came before was lost, and the test waited
 * until its time was over.
 */
export async function pressOn(target: Locator, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await focusOn(target);
  await target.page().keyboard.press(key);
}

/** The address of a page without its workspace, whose id is another one in each run. */
export const placeOf = (page: Pick<Page, 'url'>): string => page.url().replace(/\/app\/ws_\w+\//, '/app/');

/** Presses a button with the keyboard. */
export const press = (page: Page, name: string | RegExp): Promise<void> =>
  pressOn(page.getByRole('button', { name }));

/** Has what a page reads from these addresses arrive only after a moment. */
export const readsAfter = (page: Page, addresses: RegExp, moment: Promise<unknown>): Promise<unknown> =>
  page.route(addresses, async (route) => {
    if (route.request().method() === 'GET') await moment;
    await route.continue();
  });
