import { afterAll, beforeAll, describe, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { EXECUTABLE } from '../support/service.ts';
import { openChromium } from './chromium.ts';
import { type BusyService, signedIn, signedOut, startBusyService, viewsOf } from './live-views.ts';
import { inspect } from './looks.ts';

/** The names of the views; the ids in their addresses are known once the service runs. */
const NAMES = Object.keys(viewsOf({ retried: '' } as BusyService));

let busy: BusyService;
let browser: Browser;

beforeAll(async () => {
  if (!EXECUTABLE) await openPack();
  [busy, browser] = await Promise.all([startBusyService(), openChromium()]);
});
afterAll(async () => {
  await browser?.close();
  await busy?.[Symbol.asyncDispose]();
});

describe('the live view', () => {
  let page: Page;
  beforeAll(async () => {
    page = await signedIn(browser, busy.service, { viewport: { width: 1440, height: 900 } });
  });
  afterAll(() => page?.context().close());

  test.each(NAMES)('%s breaks no rule of accessibility, and does not scroll sideways', async (name) => {
    const view = viewsOf(busy)[name];
    await page.goto(`${busy.service.url}/inspector${view?.query ?? ''}`);
    await view?.isReady(page);
    await inspect(page, `live-view-${name}`);
  });
});

test('the sign-in page breaks no rule of accessibility', async () => {
  const page = await signedOut(browser, busy.service);
  await inspect(page, 'live-view-sign-in');
  await page.context().close();
});
