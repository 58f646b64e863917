import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { type Spamd, startSpamd } from '../support/spamd.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  placeOf,
  press,
  pressOn,
  typeInto,
  waitForToast,
} from './dashboard.ts';
import { inspect, pictureOf } from './looks.ts';

/** Everything that a message might try, each of which would leave a mark. */
const HOSTILE = `<meta http-equiv="refresh" content="0;url=/app/live">
  <style>body{background:url(https://example.com/css)}@import "https://example.com/import.css";</style>
  <script>parent.document.title='taken'</script><h1 onclick="x()">Hello Ada</h1>
  <img src="https://example.com/pixel.png" onerror="parent.document.title='taken'">
  <img src=x onerror="fetch('/app/api/session',{method:'DELETE'})">
  <form action="https://example.com/steal"><input name=q autofocus></form>
  <iframe src="/app/live"></iframe><a href="/app/api/session" target="_top">go</a>`;

let dashboard: Dashboard;
let url: string;
let page: Page;
let sent: string;
let spamd: Spamd;
let receiver: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  spamd = await startSpamd();
  receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 204 }) });
  dashboard = await openDashboard({
    env: {
      TEST_SENDS_PER_DAY: '0',
      SPAMASSASSIN_URL: spamd.url,
      TRANSPORT: 'capture,smtp,direct',
      SMTP_URL: 'smtp://127.0.0.1:9',
      EHLO_NAME: 'mail.acme.example',
    },
  });
  url = dashboard.service.url;
  const client = createClient(url, TEST_KEY);
  for (const outcome of ['bounced', 'opened', 'delivered'])
    await client.post('/v1/emails', {
      from: 'Acme Shop <shop@example.com>',
      to: `${outcome}@simulator.svc.test`,
      subject: `Your order was ${outcome}`,
      text: 'It is on its way.',
    });
  const { body } = await client.post('/v1/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Look at me',
    html: HOSTILE,
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  sent = body.data.id;
  page = await ownerPage(dashboard);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  await spamd?.[Symbol.asyncDispose]();
  await receiver?.stop(true);
});

const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();

test('the log is filtered in its address, gone through by keyboard, and an email opened', async () => {
  await page.goto(`${url}/app/test/emails`);
  await page.getByRole('row', { name: /Look at me/ }).waitFor();
  await inspect(page, 'emails');
  await page.keyboard.press('/');
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Recipient or subject');
  await page.keyboard.insertText('bounced@simulator.svc.test');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /Look at me/ }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('to')).toBe('bounced@simulator.svc.test');
  // The address alone brings the same list back.
  await page.reload();
  await page.getByRole('row', { name: /was bounced/ }).waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await heading('Your order was bounced');
  await page.getByRole('region', { name: 'Timeline' }).getByText('Bounced').waitFor();
  await inspect(page, 'email');
  await page.goBack();
  // The page that is left has a status as well, which is no field.
  await page.getByRole('combobox', { name: 'Status' }).selectOption('cancelled');
  await page.getByText('No matching emails').waitFor();
  // The filters are kept under a name, by keyboard, and bring the same address back.
  const filtered = new URL(page.url()).search;
  const views = page.getByRole('button', { name: 'Views' });
  await pressOn(views);
  await page.getByRole('menuitem', { name: 'Save these filters…' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await typeInto(page, { Name: 'Bounced and cancelled' });
  await inspect(page, 'emails-save-view');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Save view' }));
  await waitForToast(page, 'View “Bounced and cancelled” saved');
  await page.goto(`${url}/app/test/emails`);
  await page.getByRole('row', { name: /Look at me/ }).waitFor();
  await pressOn(views);
  await page.getByRole('menuitem', { name: 'Bounced and cancelled' }).and(page.locator(':focus')).waitFor();
  await pictureOf(page, 'application/emails-views');
  await page.keyboard.press('Enter');
  await page.getByText('No matching emails').waitFor();
  expect(new URLSearchParams(new URL(page.url()).search).size).toBe(new URLSearchParams(filtered).size);
  await page.getByRole('button', { name: 'Bounced and cancelled' }).waitFor();
  await page.keyboard.press('Control+k');
  await page
    .getByRole('combobox', { name: 'Search pages, emails, contacts and campaigns' })
    .and(page.locator(':focus'))
    .waitFor();
  await page.keyboard.insertText('was opened');
  await page.getByRole('option', { name: /Your order was opened/ }).waitFor();
  await inspect(page, 'palette');
  await page.keyboard.press('Enter');
  await heading('Your order was opened');
});

test('a hostile message is shown, and does nothing; a scheduled one is cancelled', async () => {
  expect(dashboard.complaints).toEqual([]);
  const loaded: string[] = [];
  page.on('requestfinished', (request) => loaded.push(request.url()));
  await page.goto(`${url}/app/test/emails/${sent}`);
  const frame = page.frameLocator('iframe[title="Message"]');
  await frame.getByText('Hello Ada').waitFor();
  expect(await page.title()).toStartWith('Look at me');
  const reply = await page.request.get(`${url}/app/api/test/emails/${sent}/html`);
  expect(reply.headers()['content-security-policy']).toStartWith('sandbox allow-popups');
  expect((await page.request.get(`${url}/app/api/live/emails/${sent}/html`)).status()).toBe(404);
  // The browser says of each attempt that it was stopped, of one when its image has failed.
  const stopped = () => dashboard.complaints.filter((each) => /script execution/.test(each));
  await eventually('the scripts are stopped', () => stopped().length >= 3 || undefined);
  expect(placeOf(page)).toBe(`${url}/app/test/emails/${sent}`);
  await press(page, 'Reschedule email');
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toISOString();
  await page.getByRole('dialog').getByLabel('Time').fill(inTwoDays.slice(0, 16));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Reschedule email' }));
  await page.getByText('Email scheduled for', { exact: false }).waitFor();
  const scheduledAt = async () =>
    (await asMember<{ scheduledAt: string }>(page, 'GET', `test/emails/${sent}`)).data.scheduledAt;
  expect((await scheduledAt()).slice(0, 16)).toBe(inTwoDays.slice(0, 16));
  await press(page, 'Cancel email');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Cancel email' }));
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
  const said = dashboard.complaints.splice(0);
  expect(said.filter((each) => !/sandboxed|violates|^https:\/\/example\.com/.test(each))).toEqual([]);
  expect(loaded.filter((each) => !each.startsWith(url))).toEqual([]);
});

test('the source of a raw email shows what left, and is downloaded octet for octet', async () => {
  const body = [
    'From: Acme <a@example.com>',
    'To: Ada <ada@example.com>',
    'Subject: Whole',
    'X-Own:  <b>7</b> ',
    'Message-ID: <whole-7@example.com>',
    'Date: Fri, 27 Nov 2026 10:00:00 +0100',
    '',
    'Gr\xfc\xdfe ',
    '',
  ].join('\r\n');
  const answer = await fetch(`${url}/v1/emails/raw?recipients=delivered@simulator.svc.test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'message/rfc822' },
    body: Buffer.from(body, 'latin1'),
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  await page.goto(`${url}/app/test/emails/${data.id}`);
  await heading('Whole');
  await pressOn(page.getByRole('radio', { name: 'Raw' }), 'Space');
  await page.getByText('Raw message').waitFor();
  expect(await page.locator('pre').filter({ hasText: 'X-Own:  <b>7</b> ' }).count()).toBe(1);
  const link = page.getByRole('link', { name: 'Download message' });
  const stored = await page.request.get(new URL((await link.getAttribute('href')) ?? '', url).href);
  const octets = (await stored.body()).toString('latin1');
  expect(octets.slice(octets.indexOf('From: Acme'))).toBe(body);
  expect(stored.headers()['content-disposition']).toBe(`attachment; filename="${data.id}.eml"`);
});

/** The sums of reports about a domain, as the service answers them. */
const COUNTS = {
  messages: 1_840,
  aligned: 1_800,
  dkimAligned: 1_800,
  spfAligned: 1_790,
  quarantined: 3,
  rejected: 0,
};
const REPORTED = {
  domainId: 'dom_1',
  from: '2026-11-23',
  to: '2026-11-24',
  unverified: 4,
  advice: {
    code: 'quarantineIsSafe',
    sentence: 'p=quarantine is safe: 99.9 % passes.',
    isQuarantineSafe: true,
  },
  dmarc: {
    reports: 12,
    policy: 'none',
    totals: COUNTS,
    days: [
      { day: '2026-11-23', ...COUNTS, messages: 840 },
      { day: '2026-11-24', ...COUNTS, messages: 1_000 },
    ],
    sources: [
      { address: '192.0.2.25', ...COUNTS },
      { address: '2001:db8:1234:5678:9abc:def0:1234:5678', ...COUNTS, aligned: 0 },
      { address: null, ...COUNTS },
    ],
    reporters: [{ domain: 'reader.example', reports: 12, messages: 1_840 }],
  },
  tls: { reports: 2, successful: 310, failed: 2, failures: [{ type: 'certificate-expired', sessions: 2 }] },
};

test('a domain is added, its records are copied and looked up, and it is removed', async () => {
  await page.route('**/app/api/live/domains/*/reports', (route) =>
    route.fulfill({ json: { data: REPORTED } }),
  );
  await page.goto(`${url}/app/live/domains`);
  await page.getByText('No domains yet').waitFor();
  await inspect(page, 'domains-empty');
  await page.keyboard.press('c');
  await typeInto(page, { Domain: 'not a domain' });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add domain' }));
  await page.locator('[name=name][aria-invalid=true]').waitFor();
  await typeInto(page, { Domain: 'mail.acme.example' });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add domain' }));
  await heading('mail.acme.example');
  await page.getByText('v=DKIM1; k=rsa', { exact: false }).first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await press(page, /^Copy: Value v=DMARC1/);
  await eventually('the copy', async () =>
    (await page.evaluate<string>('navigator.clipboard.readText()')).startsWith('v=DMARC1') ? true : undefined,
  );
  await pressOn(page.getByLabel(/^Clicks/), 'Space');
  await page.getByText('Clicks: tracking on').waitFor();
  await press(page, 'Undo');
  await page
    .getByLabel(/^Clicks/)
    .and(page.locator(':not(:checked)'))
    .waitFor();
  // No transport can follow capture: the second field says so, and has the focus.
  await press(page, 'Add fallback');
  await page.getByLabel('First fallback').and(page.locator(':focus')).waitFor();
  await press(page, 'Save order');
  await page.locator('[name="fallbacks/0"][aria-invalid=true]:focus').waitFor();
  await page.getByText('No transport can come after capture', { exact: false }).waitFor();
  await page.getByText('p=quarantine is safe: 99.9 % passes.').waitFor();
  await page
    .getByRole('table', { name: 'Sources of mail from this domain' })
    .getByText('192.0.2.25')
    .waitFor();
  await page
    .getByText('Encryption: 310 sessions as your policy wants them, 2 without: Certificate expired (2).')
    .waitFor();
  await inspect(page, 'domain');
  await page.getByLabel('Transport', { exact: true }).selectOption('Direct');
  await page.locator('[name="fallbacks/0"][aria-invalid=false]').waitFor();
  await pressOn(page.getByRole('button', { name: 'Move SMTP relay up' }));
  await page.getByRole('button', { name: 'Move SMTP relay up' }).and(page.locator(':focus')).waitFor();
  await press(page, 'Save order');
  await page.getByText('Transport of live email: “SMTP relay”, then “Direct”').waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1);
  const order = async () => (await asMember(page, 'GET', `live/domains/${id}`)).data;
  expect(await order()).toMatchObject({ provider: 'smtp', fallbacks: ['direct'] });
  await page.getByRole('button', { name: 'Remove Direct' }).click();
  await page.getByLabel('First fallback').waitFor({ state: 'detached' });
  await press(page, 'Save order');
  await page.getByText('Transport of live email: “SMTP relay”', { exact: true }).waitFor();
  expect(await order()).toMatchObject({ provider: 'smtp', fallbacks: [] });
  await press(page, 'Warm up “SMTP relay”');
  await waitForToast(page, 'Warm-up of “SMTP relay” started');
  await page.getByText(/^Day 1 of 30: 0 of 50 recipients\./).waitFor();
  await press(page, 'Edit schedule');
  await typeInto(page, { 'Recipients per day': '10, 20; none' });
  await press(page, 'Save schedule');
  await page.locator('[name="warmUps/0/perDay"][aria-invalid=true]:focus').waitFor();
  await inspect(page, 'domain-warm-up');
  await typeInto(page, { 'Recipients per day': '10, 20; 30' });
  await press(page, 'Save schedule');
  await page.getByText(/^Day 1 of 3: 0 of 10 recipients\./).waitFor();
  expect(await order()).toMatchObject({ warmUps: [{ provider: 'smtp', perDay: [10, 20, 30] }] });
  await press(page, 'End warm-up');
  await waitForToast(page, 'Warm-up of “SMTP relay” ended. Waiting email leaves now.');
  await page.getByRole('button', { name: 'Warm up “SMTP relay”' }).waitFor();
  await press(page, 'More actions for mail.acme.example');
  await pressOn(page.getByRole('menuitem', { name: 'Remove domain' }));
  await press(page, 'Remove domain');
  await heading('Domains');
  await page.getByText('No domains yet').waitFor();
});

test('an endpoint is added, its secret shown once, a test event posted, shown and posted again', async () => {
  await page.goto(`${url}/app/test/webhooks`);
  await page.getByText('No test endpoints yet').waitFor();
  await page.keyboard.press('c');
  await typeInto(page, { URL: receiver.url.href });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }));
  await page.locator('pre', { hasText: 'whsec_' }).waitFor();
  await inspect(page, 'webhook-secret');
  await press(page, 'I have copied it');
  await heading(receiver.url.href);
  await page.getByText('No deliveries yet').waitFor();
  await createClient(url, TEST_KEY).post('/v1/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'x',
    text: 'x',
  });
  await pressOn(page.getByRole('button', { name: /^Show delivered/ }));
  await page.getByText('Event content').waitFor();
  expect(await page.getByRole('dialog').locator('pre').first().textContent()).toContain('"emailId"');
  await inspect(page, 'delivery');
  await page.keyboard.press('Escape');
  await press(page, 'More actions for this endpoint');
  await pressOn(page.getByRole('menuitem', { name: 'Replay events' }));
  await press(page, 'Replay events');
  await page.getByText(/^\d+ events are being replayed\.$/).waitFor();
  await inspect(page, 'webhook-replay');
  await press(page, 'Done');
  await press(page, 'More actions for this endpoint');
  await pressOn(page.getByRole('menuitem', { name: 'Verify signatures' }));
  await pressOn(page.getByRole('radio', { name: 'Python' }), 'Space');
  await page.getByRole('dialog').locator('pre', { hasText: 'hmac.compare_digest' }).waitFor();
  await inspect(page, 'webhook-verify');
  await page.keyboard.press('Escape');
  await press(page, 'Send test event');
  await waitForToast(page, 'Test event queued');
  await inspect(page, 'webhook');
  await press(page, 'More actions for this endpoint');
  await pressOn(page.getByRole('menuitem', { name: 'Disable endpoint' }));
  await page.getByText('Events are not posted to this endpoint now.', { exact: false }).waitFor();
  await press(page, 'Undo');
  await page
    .getByText('Events are not posted to this endpoint now.', { exact: false })
    .waitFor({ state: 'detached' });
});

test('captured mail is an inbox, and no browser has complained', async () => {
  await page.goto(`${url}/app/live/captured`);
  await page.getByText('No captured mail yet').waitFor();
  const client = createClient(url, LIVE_KEY);
  const domain = await client.post('/v1/domains', { name: 'kept.example' });
  expect(domain.body.data.status).toBe('verified');
  const email = {
    from: 'shop@kept.example',
    to: 'ada@example.com',
    subject: 'Kept',
    html: '<p>Stayed here</p><a href="https://kept.example/shop?a=1&amp;b=2">The shop</a>',
  };
  expect((await client.post('/v1/emails', email)).status).toBe(202);
  // The inbox looks by itself.
  await page.getByRole('row', { name: /ada@example.com/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await heading('Kept');
  await page.frameLocator('iframe[title="Message"]').getByText('Stayed here').waitFor();
  await pressOn(page.getByRole('radio', { name: 'Links' }), 'Space');
  await page.getByRole('link', { name: 'https://kept.example/shop?a=1&b=2' }).waitFor();
  const filter = page.getByRole('region', { name: 'SpamAssassin' });
  await filter.getByText('6.2').waitFor();
  await filter.getByText('BODY: Generic Test for Unsolicited Bulk Email', { exact: false }).waitFor();
  expect(spamd.asked).toHaveLength(1);
  expect(spamd.asked[0]).toContain('Stayed here');
  await pressOn(page.getByRole('radio', { name: 'Raw' }), 'Space');
  await page.locator('pre', { hasText: 'DKIM-Signature' }).waitFor();
  await inspect(page, 'captured');
  await press(page, 'Delete message');
  await page.getByText('No captured mail yet').waitFor();
  expect(dashboard.complaints).toEqual([]);
});
