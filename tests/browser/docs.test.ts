import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { openChromium } from './chromium.ts';

let browser: Browser;
let service: RealService;

beforeAll(async () => {
  [browser, service] = await Promise.all([openChromium(), startRealService()]);
});
afterAll(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

test.each([
  '/docs',
  '/docs/templates',
  '/docs/webhooks',
  '/docs/errors',
  '/docs/life-of-an-email',
  '/docs/what-happens-when',
])('%s does not scroll sideways on a telephone', async (path) => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${service.url}${path}`);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  await page.close();
  expect(width).toBe(390);
});
