import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { TEST_KEY } from '../support/service.ts';
import { PATIENCE_MS } from './chromium.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  opens,
  ownerPage,
  PASSWORD,
  press,
  pressOn,
  signIn,
  typeInto,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect, pictureOf, sidewaysOf, violations } from './looks.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** The labels of buttons that change nothing. */
const READING = /^More actions$/;

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

test('the overview says what fails and what needs a person', async () => {
  const client = createClient(url, TEST_KEY);
  const email = { from: 'a@example.com', to: 'bounced@simulator.svc.test', subject: 'Invoice', text: 'x' };
  expect((await client.post('/v1/emails', email)).status).toBe(202);
  const hook = await client.post('/v1/webhooks', { url: 'https://hooks.example.invalid', events: ['sent'] });
  await client.patch(`/v1/webhooks/${hook.body.data.id}`, { status: 'disabled' });
  await page.goto(`${url}/app`);
  await heading('Welcome, Ada Lovelace');
  await page
    .getByRole('row', { name: /Invoice/ })
    .getByText('refused it permanently', { exact: false })
    .waitFor();
  await page.getByText('hooks.example.invalid is disabled', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'Add your domain' }).waitFor();
  await inspect(page, 'overview');
});

test('the requests of a key are reached from it, filtered, and explained', async () => {
  const client = createClient(url, TEST_KEY);
  const refused = await client.post('/v1/emails', {});
  expect(refused.status).toBe(422);
  expect((await client.get('/v1/emails/em_01m7xj1rwp4sersf8ggsa354')).status).toBe(404);
  await page.goto(`${url}/app/test/api-keys`);
  await heading('API keys');
  await press(page, /^More actions for/);
  await pressOn(page.getByRole('menuitem', { name: 'View requests' }));
  await heading('Requests');
  expect(new URL(page.url()).searchParams.get('apiKeyId')).toMatch(/^key_/);
  const row = (name: RegExp) => page.getByRole('row', { name });
  await row(/GET \/v1\/emails\/em_01m7xj1rwp4sersf8ggsa354.*404/).waitFor();
  await row(/POST \/v1\/emails.*VALIDATION_ERROR.*422/).waitFor();
  await inspect(page, 'requests');
  await page.getByLabel('Method').selectOption('POST');
  await page.getByLabel('Status').selectOption('4xx');
  await row(/GET \/v1\/emails\/em_/).waitFor({ state: 'detached' });
  await pressOn(page.getByRole('link', { name: /POST \/v1\/emails/ }).first());
  await heading('POST /v1/emails');
  const reason = page.getByRole('region', { name: 'Reason' });
  await reason.getByText('The request was read, but some of its values are wrong.').waitFor();
  const docs = reason.getByRole('link', { name: 'Documentation of VALIDATION_ERROR' });
  expect(await docs.getAttribute('href')).toBe('/docs/errors#VALIDATION_ERROR');
  await inspect(page, 'request');
  // A request that arrives is shown without a reload.
  await page.goBack();
  await heading('Requests');
  await client.post('/v1/domains', {});
  await row(/POST \/v1\/domains.*VALIDATION_ERROR.*422/).waitFor();
});

test('settings and brand are saved, and each wrong field shows its problem', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await heading('Settings');
  await typeInto(page, { Name: 'Acme Limited', 'Default sender': 'hello@unverified.example' });
  await press(page, 'Save');
  await page.locator('[name=defaultFrom][aria-invalid=true]:focus').waitFor();
  await inspect(page, 'settings');
  await typeInto(page, { 'Default sender': '' });
  await press(page, 'Save');
  await waitForToast(page, 'Settings saved');
  await pressOn(page.getByRole('link', { name: 'Brand' }));
  await typeInto(page, { Colour: 'teal' });
  await press(page, 'Save');
  await page.locator('[name="branding/colour"][aria-invalid=true]:focus').waitFor();
  await typeInto(page, { Colour: '#0f766e' });
  await press(page, 'Save');
  await page.getByText('Brand saved').waitFor();
  await page
    .getByLabel('Choose image')
    .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PNG });
  await page.getByRole('img', { name: 'Logo of the workspace' }).waitFor();
  await inspect(page, 'brand');
  await pressOn(page.getByRole('link', { name: 'Notifications' }));
  await pressOn(page.getByLabel('Disabled webhooks'), 'Space');
  await page.getByText('Disabled webhooks: notifications off').waitFor();
  await page.getByLabel('Disabled webhooks').and(page.locator(':not(:checked)')).waitFor();
  await press(page, 'Undo');
  await page.getByLabel('Disabled webhooks').and(page.locator(':checked')).waitFor();
  await inspect(page, 'service-emails');
  const { data } = await asMember<{ name: string; branding: { colour: string } }>(
    page,
    'GET',
    'live/workspace',
  );
  expect([data.name, data.branding.colour]).toEqual(['Acme Limited', '#0f766e']);
});

test('a member is invited, gets another role, which undo takes back, and sees nothing that would be refused', async () => {
  await page.goto(`${url}/app/test/members`);
  await heading('Members');
  await page.keyboard.press('c');
  await typeInto(page, { 'Email address': 'eve@acme.example' });
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await press(page, 'Create invitation');
  const link = (await page.locator('pre').textContent()) ?? '';
  await press(page, 'Done');
  const eve = await dashboard.newcomer();
  await eve.goto(opens(dashboard.service, link));
  await typeInto(eve, { 'Your name': 'Eve', Password: PASSWORD });
  await eve.keyboard.press('Enter');
  await eve.getByRole('heading', { name: 'Welcome, Eve' }).waitFor();
  await page.reload();
  await press(page, /^Eve:/);
  await pressOn(page.getByRole('menuitem', { name: 'admin' }));
  await page.getByText('Eve is now admin').waitFor();
  await press(page, 'Undo');
  await page.getByRole('button', { name: 'Eve: viewer' }).waitFor();
  await inspect(page, 'members');
  // A viewer goes through every page: nothing is offered that changes, and nothing is refused.
  const refused: string[] = [];
  eve.on('response', (reply) => reply.status() === 403 && refused.push(reply.url()));
  await eve.goto(`${url}/app/live`);
  const navigation = eve.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await navigation.first().waitFor();
  const links = await navigation.all();
  const places = await Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''));
  expect(places.length).toBeGreaterThan(12);
  for (const name of [...places, '/app/live/start']) {
    await eve.goto(url + name);
    await eve.locator('main h1, main h2').first().waitFor();
    await eve.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
    const offered = await eve.locator('main').getByRole('button').all();
    const names = await Promise.all(offered.map((each) => each.getAttribute('aria-label')));
    const texts = await Promise.all(offered.map((each) => each.textContent()));
    const changing = texts.map((text, at) => names[at] ?? text ?? '').filter((each) => !READING.test(each));
    // The live view shows machines, and nothing of it changes any.
    if (!name.endsWith('/machines')) expect([name, changing]).toEqual([name, []]);
    expect(await eve.locator('main [data-create], main button[type=submit]').count()).toBe(0);
  }
  await eve.goto(`${url}/app/live/audit-log`);
  await eve.getByRole('heading', { name: 'Page not found' }).waitFor();
  expect(refused).toEqual([]);
  // A member who goes may leave keys behind: the dialog names them, from the test environment those of both.
  const { data: members } = await asMember<{ id: string; name: string }[]>(page, 'GET', 'live/members');
  const id = members.find(({ name }) => name === 'Eve')?.id;
  await asMember(page, 'PATCH', `live/members/${id}`, { role: 'admin' });
  const key = { name: 'Nightly', env: 'live', permissions: ['emails:read'] };
  expect((await asMember(eve, 'POST', 'live/api-keys', key)).status).toBe(201);
  await page.reload();
  await press(page, /^Eve:/);
  await pressOn(page.getByRole('menuitem', { name: 'Remove from workspace' }));
  await page.getByText(/^Nightly \(svc_/).waitFor();
  await inspect(page, 'member-removal');
  await page.getByLabel('Revoke the key that they created').check();
  await press(page, 'Remove member');
  await page.getByText('Eve removed').waitFor();
  const made = await asMember<{ revokedAt: string | null }[]>(page, 'GET', `live/api-keys?createdBy=${id}`);
  expect(made.data.map(({ revokedAt }) => revokedAt === null)).toEqual([false]);
  await eve.context().close();
});

test('plan and usage, and the audit log with its filters', async () => {
  await page.goto(`${url}/app/live/billing`);
  await page.getByRole('heading', { name: 'Plan Free' }).waitFor();
  await inspect(page, 'billing');
  await pressOn(page.getByRole('link', { name: 'Audit log' }));
  await page
    .getByRole('row', { name: /Ada Lovelace/ })
    .first()
    .waitFor();
  await inspect(page, 'audit-log');
  await page.getByRole('combobox', { name: 'Action' }).selectOption('member.changed');
  await page
    .getByRole('row', { name: /\bchanged\b/ })
    .first()
    .waitFor();
  await page
    .getByRole('row', { name: /Workspace/ })
    .first()
    .waitFor({ state: 'detached' });
});

test('a passkey is added for the password, which can be looked at, and signs in', async () => {
  const context = await dashboard.browser.newContext({ reducedMotion: 'reduce', locale: 'en' });
  context.setDefaultTimeout(PATIENCE_MS);
  const person = await context.newPage();
  const device = await context.newCDPSession(person);
  await device.send('WebAuthn.enable');
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  // Passkeys are bound to the host of PUBLIC_URL, which is no number.
  await person.goto(`http://localhost:${dashboard.service.port}/app`);
  await signIn(person);
  await press(person, /^Account/);
  await pressOn(person.getByRole('menuitem', { name: 'Your account' }));
  // A new password shows how hard it is to guess, and can be made visible.
  const fresh = person.getByLabel('New password', { exact: true });
  await fresh.fill('aaaaaaaaaaaaaaaa');
  await person.getByText('Weak: easy to guess').waitFor();
  await fresh.fill('four unrelated words, at least');
  await person.getByText('Strong', { exact: true }).waitFor();
  const shown = person.getByRole('button', { name: 'Show password' }).last();
  await pressOn(shown);
  expect([await fresh.getAttribute('type'), await shown.getAttribute('aria-pressed')]).toEqual([
    'text',
    'true',
  ]);
  await press(person, 'Add passkey');
  await typeInto(person, { Name: 'Laptop', 'Your password': 'wrong' });
  await press(person, 'Continue');
  await person.getByRole('alert').filter({ hasText: 'The current password is wrong.' }).waitFor();
  await typeInto(person, { 'Your password': PASSWORD });
  await press(person, 'Continue');
  await person.getByText('Passkey “Laptop” added').waitFor();
  await press(person, /^Account/);
  await pressOn(person.getByRole('menuitem', { name: 'Sign out' }));
  await press(person, 'Sign in with a passkey');
  await person.getByRole('heading', { name: 'Your account' }).waitFor();
  await press(person, 'Remove passkey Laptop');
  await person.getByText('Passkey “Laptop” removed').waitFor();
  await context.close();
});

test('an authenticator is set up, and another session is signed out', async () => {
  const second = await dashboard.newcomer();
  await second.goto(`${url}/app`);
  await signIn(second);
  await second.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
  await press(page, /^Account/);
  await pressOn(page.getByRole('menuitem', { name: 'Your account' }));
  await heading('Your account');
  await press(page, 'Set up authenticator');
  const secret = (await page.locator('pre').first().textContent()) ?? '';
  await typeInto(page, { Code: '000000' });
  await press(page, 'Turn on');
  await page.locator('[name=code][aria-invalid=true]:focus').waitFor();
  await typeInto(page, { Code: totpCode(secret.trim(), Math.floor(Date.now() / 30_000)) });
  await press(page, 'Turn on');
  await page.getByText('Each code signs you in once', { exact: false }).waitFor();
  await press(page, 'I have saved them');
  await page.getByRole('button', { name: 'Remove authenticator' }).waitFor();
  await inspect(page, 'account');
  await press(page, 'Sign out everywhere else');
  await page.getByText('Signed out everywhere else').waitFor();
  await second.reload();
  await second.getByRole('heading', { name: 'Sign in to Posthorn' }).waitFor();
  await second.context().close();
  expect(dashboard.complaints).toEqual([]);
});

/** The elements that Tab reaches in a page. */
const FOCUSABLE =
  'main :is(a[href], button:enabled, input:enabled, select:enabled, textarea, [tabindex="0"])';

test('every page is reached by the keys that the overlay names, and holds together at twice the size', async () => {
  // 1440 by 900 pixels at 200 % are half as many of the page's own.
  await page.setViewportSize({ width: 720, height: 450 });
  await page.goto(`${url}/app/live`);
  await heading('Welcome, Ada Lovelace');
  await page.keyboard.press('?');
  const overlay = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await overlay.waitFor();
  expect(await sidewaysOf(page)).toBe(0);
  // All of it can be come to, however low the window is.
  await overlay.getByRole('checkbox').focus();
  expect(await page.evaluate('document.activeElement.getBoundingClientRect().bottom <= innerHeight')).toBe(
    true,
  );
  const places = await overlay
    .getByRole('region', { name: 'Go to' })
    .locator('dl > div')
    .evaluateAll((all) => all.map((each) => (each.textContent ?? '').split(/g (?=\w$)/)));
  expect(places.length).toBeGreaterThan(12);
  await page.keyboard.press('Escape');
  for (const [title = '', key = ''] of places) {
    // While a field has the focus, keys go into it.
    await page.locator('main').focus();
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await eventually(title, async () => (await page.title()).startsWith(`${title} ·`) || undefined);
    await page.locator('main [aria-busy=true], main .skeleton').first().waitFor({ state: 'detached' });
    expect([title, await sidewaysOf(page)]).toEqual([title, 0]);
    // Parts of a page that come without placeholders bring the first thing that Tab could come to.
    await page.locator(FOCUSABLE).filter({ visible: true }).first().waitFor();
    // The first element that Tab reaches is visible, and shows that it has the focus.
    await page.locator('main').focus();
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(`(() => {
      const { activeElement: found } = document;
      const { top, bottom, width } = found.getBoundingClientRect();
      return {
        isSeen: width > 0 && bottom > 0 && top < innerHeight,
        isMarked: found.matches(':focus-visible') && document.querySelector('main').contains(found),
      };
    })()`);
    expect([title, focused]).toEqual([title, { isSeen: true, isMarked: true }]);
  }
  expect(dashboard.complaints).toEqual([]);
});

test('on a phone the navigation is a drawer, which breaks no rule and closes behind who goes somewhere', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${url}/app/live/members`);
  await heading('Members');
  await press(page, 'Navigation');
  const drawer = page.getByRole('dialog', { name: 'Navigation' });
  await drawer.waitFor();
  // The bar and the drawer are nowhere else, so that both themes are looked at here.
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await pictureOf(page, `application/navigation-390-${colorScheme}`);
    expect([colorScheme, await violations(page)]).toEqual([colorScheme, []]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await pressOn(drawer.getByRole('link', { name: 'Domains' }));
  await heading('Domains');
  await withoutDialog(page);
});

test('nothing moves for people who want no motion, and something does for all others', async () => {
  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    await page.emulateMedia({ reducedMotion });
    await page.keyboard.press('Escape');
    await withoutDialog(page);
    // Counted in the task that opens the dialog: what moves has not ended before it is looked at.
    await page.evaluate(`new Promise((done) => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector('dialog[open]')) return;
        observer.disconnect();
        window.moved = document.getAnimations().length;
        done();
      }).observe(document.body, { childList: true, subtree: true, attributes: true });
      document.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
    })`);
    const moved = (await page.evaluate('window.moved')) as number;
    expect([reducedMotion, moved > 0]).toEqual([reducedMotion, reducedMotion === 'no-preference']);
  }
});
