import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { ACTIVE_HTML } from '../support/hostile-mail.ts';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import {
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  pressOn,
  typeInto,
  waitForToast,
} from './dashboard.ts';
import { inspect } from './looks.ts';

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  const SES_INBOUND_TOPICS = 'arn:aws:sns:eu-west-1:123456789012:inbound';
  dashboard = await openDashboard({ env: { EHLO_NAME: 'mail.acme.example', SES_INBOUND_TOPICS } });
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
  await createClient(url, LIVE_KEY).post('/v1/domains', { name: 'acme.example' });
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('a route is added, and shows the secret of its webhook once', async () => {
  await page.goto(`${url}/app/test/inbound-routes`);
  await page.getByText('No test routes yet').waitFor();
  await page.getByText(/\/callbacks\/ses\/inbound$/).waitFor();
  await page.getByText('Not open: INBOUND_SMTP_PORT is not set.').waitFor();
  await inspect(page, 'inbound-routes-empty');
  await page.keyboard.press('c');
  await typeInto(page, { 'Name before the @': 'support' });
  await typeInto(page, { URL: 'http://127.0.0.1:9/in' });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add route' }));
  await page.getByText('Copy the secret now.', { exact: false }).waitFor();
  await press(page, 'I have copied it');
  await page.getByText('support@acme.example').first().waitFor();
  await inspect(page, 'inbound-routes');
});

test('a message that a stranger wrote is shown in a frame where nothing of it runs', async () => {
  const raw = `From: Eve <eve@customer.example>\r\nTo: support@acme.example\r\nSubject: Hello\r\nContent-Type: text/html\r\n\r\n${ACTIVE_HTML.replaceAll('\n', '\r\n')}\r\n`;
  await page.goto(`${url}/app/test/received`);
  await page.getByText('No mail received yet').waitFor();
  const response = await fetch(`${url}/v1/received/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'message/rfc822' },
    body: raw,
  });
  expect(response.status).toBe(201);
  await page.getByRole('row', { name: /eve@customer.example/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.frameLocator('iframe[title="Message"]').getByText('Hello support').waitFor();
  // Requests are looked for in hostile-message.test.ts.
  expect(await page.title()).not.toBe('taken');
  await inspect(page, 'received');
  await press(page, 'Delete message');
  await waitForToast(page, 'Message deleted');
  await page.getByText('No mail received yet').waitFor();
});
