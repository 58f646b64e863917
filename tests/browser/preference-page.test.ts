import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { confirmationPath, preferencesPath } from '../../src/audience/preferences/links.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { openChromium, PATIENCE_MS } from './chromium.ts';
import { pictureOf, sidewaysOf, violations } from './looks.ts';

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

let service: RealService;
let browser: Browser;
let key: string;
let audienceId: string;

const send = async (method: string, path: string, body?: unknown) =>
  (await service.ask({ method, path, key, ...(body !== undefined && { body }) })).body?.data;

beforeAll(async () => {
  [service, browser] = await Promise.all([startRealService(), openChromium()]);
  key = await service.keyWith('live', ['*']);
  await send('PATCH', '/v1/workspace', { branding: { colour: '#ffd400', website: 'https://acme.example' } });
  await send('POST', '/v1/contacts', { email: 'ada@example.com' });
  for (const name of ['News', 'Offers'])
    audienceId = (await send('POST', '/v1/audiences', { name, description: 'Now and then', public: true }))
      .id;
});
afterAll(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

const recipient = () => ({ workspaceId: service.workspaceId, livemode: true, key: 'ada@example.com' });

test.each([
  ['light', 'en', 1_024],
  ['dark', 'de', 320],
] as const)('the pages of recipients, %s, in %s, %i pixels wide', async (colorScheme, locale, width) => {
  // axe needs scripts; the pages have none, and the next test uses them without.
  const context = await browser.newContext({
    colorScheme,
    locale,
    viewport: { width, height: 700 },
    bypassCSP: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const token = linkToken(
    'unsubscribe',
    {
      emailId: 'em_000000000000000000000000',
      recipient: 0,
      target: `${service.workspaceId} somebody@example.com`,
    },
    SIGNER,
  );
  const paths = [
    preferencesPath(SIGNER, recipient()),
    confirmationPath(SIGNER, { ...recipient(), audienceId }),
    `/t/u/${token}`,
  ];
  for (const path of paths) {
    await page.goto(service.url + path);
    expect(await violations(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
    await pictureOf(page, `recipients/${path.split('/').slice(1, -1).join('-')}-${width}-${colorScheme}`);
  }
  expect(asked.filter((url) => !url.startsWith(service.url))).toEqual([]);
  const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  expect(background).toBe(colorScheme === 'dark' ? 'rgb(22, 27, 34)' : 'rgb(255, 255, 255)');
  await context.close();
});

test('without scripts, under the policy of the page, a person chooses by keyboard', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(service.url + preferencesPath(SIGNER, recipient()));
  await page.getByLabel('Offers').check();
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('Your choice is saved.').waitFor();
  expect(await page.getByLabel('Offers').isChecked()).toBe(true);
  expect((await send('GET', '/v1/contacts/ada@example.com')).audienceIds).toEqual([audienceId]);
  await page.getByRole('button', { name: 'Unsubscribe from everything' }).press('Enter');
  await page.getByText('You are unsubscribed from everything.').waitFor();
  expect((await send('GET', '/v1/contacts/ada@example.com')).status).toBe('unsubscribed');
  // The lists stay for the way back, where another choice can be made.
  expect(await page.getByLabel('Offers').isChecked()).toBe(true);
  await page.getByLabel('Offers').uncheck();
  await page.getByLabel('News').check();
  await page.getByRole('button', { name: 'Get emails again' }).press('Enter');
  await page.getByText('You get emails again.').waitFor();
  expect([await page.getByLabel('News').isChecked(), await page.getByLabel('Offers').isChecked()]).toEqual([
    true,
    false,
  ]);
  await context.close();
});
