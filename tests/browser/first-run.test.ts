import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';
import { ADA, type Dashboard, openDashboard, PASSWORD, placeOf, setupLink } from './dashboard.ts';
import { inspect } from './looks.ts';

/**
 * The time of a test that goes the whole way from the printed link to a delivered email: a minute, on any
 * machine.
 */
const A_MINUTE_MS = 60_000;

let dashboards: readonly [Dashboard, Dashboard];
let page: Page;
beforeAll(async () => {
  const browser = await openChromium();
  dashboards = await Promise.all([
    // One on the embedded database, which a first start uses, and one on a server.
    openDashboard({}, browser, startService),
    openDashboard({}, browser),
  ]);
});
afterAll(async () => {
  for (const each of dashboards ?? []) await each[Symbol.asyncDispose]();
  await dashboards?.[0].browser.close();
});

/** The state of the email on its drawn machine: the one card that is lit. */
const lit = (page: Page, state: string) => page.locator(`[data-state=${state}][aria-current=step]`);

/** Notes each state that is lit from now on: a deferral ends within three seconds, seen or not. */
const NOTE_LIT = `globalThis.litStates = [];
  new MutationObserver(() => {
    const state = document.querySelector('[data-state][aria-current=step]')?.dataset.state;
    if (state && state !== litStates.at(-1)) litStates.push(state);
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['aria-current'] })`;

/** Goes to a control with the keyboard alone. */
async function tabTo(page: Page, what: Locator): Promise<void> {
  await what.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if ((await what.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`80 presses of Tab do not lead to ${what}.`);
}

const byMouse = async () => {
  const [dashboard] = dashboards;
  page = await dashboard.newcomer();
  await page.goto(await setupLink(dashboard.service));
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Email address').fill(ADA);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
  expect(new URL(placeOf(page)).pathname).toBe('/app/test/start/test');
  // The machine is there before the email is, and nothing of it is lit.
  await page.locator('[data-state=delivered]').waitFor();
  expect(await page.locator('button.halo').count()).toBe(0);
  await page.getByRole('button', { name: 'Send test email' }).click();
  await lit(page, 'delivered').waitFor();
  await page.getByText('The email arrived.').waitFor();
};
test(
  'with a mouse, from the printed link to a delivered test email in less than a minute',
  byMouse,
  A_MINUTE_MS,
);

test('another outcome takes another way, on the machine beside it and on the page of the email', async () => {
  const [dashboard] = dashboards;
  expect(await page.getByRole('list', { name: 'States so far' }).textContent()).toMatch(
    /sending→(sent→)?delivered$/,
  );
  await inspect(page, 'start-test');

  await page.getByLabel('Outcome').selectOption('deferred');
  await page.evaluate(NOTE_LIT);
  await page.getByRole('button', { name: 'Send another' }).click();
  await eventually('the deferral and the delivery', async () => {
    const states = await page.evaluate<readonly string[]>('litStates');
    return (states.includes('deferred') && states.at(-1) === 'delivered') || undefined;
  });
  await lit(page, 'delivered').waitFor();
  await page.getByRole('button', { name: 'Previous step (←)' }).click();
  await page.locator('[aria-current=step][data-state]:not([data-state=delivered])').waitFor();
  await page.getByRole('link', { name: 'View email' }).click();
  await page.getByRole('heading', { name: 'My first test email', level: 1 }).waitFor();
  await lit(page, 'delivered').waitFor();
  await inspect(page, 'email-machine');
  expect(dashboard.complaints).toEqual([]);
});

const button = (name: string) => page.getByRole('button', { name });
const type = async (label: string, text: string) => {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
};
const press = async (what: Locator) => {
  await tabTo(page, what);
  await page.keyboard.press('Enter');
};

const byKeyboard = async () => {
  const [, dashboard] = dashboards;
  page = await dashboard.newcomer();
  await page.goto(await setupLink(dashboard.service));
  await type('Your name', 'Ada Lovelace');
  await type('Email address', ADA);
  await type('Password', PASSWORD);
  await page.keyboard.press('Enter');
  await press(button('Send test email'));
  await page.getByText('The email arrived.').waitFor();
  await lit(page, 'delivered').waitFor();
};
test('by keyboard alone, in less than a minute', byKeyboard, A_MINUTE_MS);

test('by keyboard alone, on to a domain, a key and the first live email', async () => {
  const [, dashboard] = dashboards;
  await press(page.getByRole('link', { name: 'Next: add your domain' }));
  await page.getByText('Live environment. Email is captured here and not delivered.').waitFor();
  await type('Domain', 'acme');
  await page.keyboard.press('Enter');
  await page.locator('[name=name][aria-invalid=true]:focus').waitFor();
  await type('Domain', 'acme.test');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'acme.test' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'Verified' }).waitFor();
  expect(await page.getByRole('button', { name: /^Copy: Value v=DKIM1/ }).count()).toBeGreaterThan(0);
  await inspect(page, 'start-domain');

  await press(page.getByRole('link', { name: 'Next: create an API key' }));
  await type('Name', 'Checkout');
  await page.keyboard.press('Enter');
  const key = (await page.locator('pre').first().textContent()) ?? '';
  expect(key).toStartWith('svc_live_');
  await inspect(page, 'start-key');
  const { url } = dashboard.service;
  const command = (await page.locator('pre').last().textContent()) ?? '';
  const run = Bun.spawn(['sh', '-c', command], { stdout: 'pipe', stderr: 'ignore' });
  expect(await new Response(run.stdout).json()).toMatchObject({ data: { livemode: true } });

  await press(page.getByRole('link', { name: 'Next: send a live email' }));
  await press(button('Send live email'));
  await lit(page, 'sent').or(lit(page, 'delivered')).first().waitFor();
  await press(page.getByRole('link', { name: 'Open captured mail' }));
  await page.getByRole('row', { name: /My first live email/ }).waitFor();
  await page.goto(`${url}/app/test`);
  await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
  // The way has been gone: it is no longer offered.
  await page.getByRole('region', { name: 'Recent failures' }).waitFor();
  expect(await page.getByRole('region', { name: 'First steps' }).count()).toBe(0);
  expect(dashboard.complaints).toEqual([]);
});
