import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, type Dashboard, openDashboard, ownerPage, signIn } from './dashboard.ts';

// A long message follows the typing, and neither its parts that stay nor the keys wait for the rest.

let dashboard: Dashboard;
let page: Page;
let address: string;

const LINE = '<p style="color: rgb(1, 2, 3)">Story';
const HTML = `<html lang="en"><body>\nWords\n<script>document.title = 'run'</script>${Array.from(
  { length: 600 },
  (_, at) => `${LINE} ${at + 1} of <a href="https://example.com/${at}">the news</a></p>`,
).join('\n')}</body></html>`;

beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
  // The turns that the page gives to other tasks are counted.
  await page.addInitScript(`
    globalThis.turns = 0;
    const original = scheduler.yield.bind(scheduler);
    scheduler.yield = () => { turns++; return original(); };
  `);
  const { data } = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    name: 'Long',
    subject: 'Long',
    format: 'html',
    html: HTML,
  });
  address = `${dashboard.service.url}/app/test/templates/${data.id}`;
  await page.goto(address);
  await shows('Story 600 of');
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const inFrame = <Answer>(expression: string, on = page): Promise<Answer> =>
  on.evaluate<Answer>(
    `((message) => ${expression})(document.querySelector('iframe[title=Message]').contentDocument)`,
  );
const shows = (text: string, on = page) =>
  eventually(`the preview shows ${text}`, async () =>
    (await inFrame<string>('message.body.textContent', on)).includes(text) ? true : undefined,
  );
/**
 * Writes at the end of the second line, which is short: a long one is wrapped, and its end key does not reach
 * its end.
 */
const write = async (text: string, on = page) => {
  await on.getByRole('textbox', { name: 'HTML source' }).focus();
  await on.keyboard.press('Control+Home');
  await on.keyboard.press('ArrowDown');
  await on.keyboard.press('End');
  await on.keyboard.type(text);
};

test('a message has its styles and no scripts', async () => {
  expect(
    await inFrame<string>('message.defaultView.getComputedStyle(message.querySelector("p")).color'),
  ).toBe('rgb(1, 2, 3)');
  expect(await inFrame<number>('message.scripts.length')).toBe(0);
  expect(await inFrame<string>('message.documentElement.lang')).toBe('en');
});

test('the preview shows the last letter, and keeps all that has not changed', async () => {
  await inFrame('message.querySelectorAll("p").forEach((each) => { each.isOld = true; })');
  // The editor closes the element.
  await write('<b>written to the last letterz');
  await shows('written to the last letterz');
  const kept = await inFrame<number>(
    '[...message.querySelectorAll("p")].filter((each) => each.isOld).length',
  );
  expect(kept).toBe(600);
});

test('a long message is shown in more than one task', async () => {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.evaluate('turns = 0');
  await write(' and then');
  await shows('and then');
  expect(await page.evaluate<number>('turns')).toBeGreaterThan(0);
  // A browser slows down by working in vain, also while nothing is asked of the page.
  await cdp.detach();
});

test('the preview follows once the limit of previews a minute lets it through', async () => {
  let refused = 0;
  await page.route(/\/render-preview/, (route) =>
    refused++ < 2
      ? route.fulfill({ status: 429, json: { error: { message: 'Too many.' } } })
      : route.continue(),
  );
  await write(' limited');
  await shows(' limited');
  expect(refused).toBeGreaterThan(2);
  await page.unroute(/\/render-preview/);
});

test('a message waits for a frame that is still on its way', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using slow = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'text/html', 'x-content-type-options': 'nosniff' }).flushHeaders();
    void released.then(() => reply.end('<!doctype html><title>Message</title>'));
  }).listen(0, '127.0.0.1');
  const { port } = slow.address() as AddressInfo;
  const eve = await dashboard.newcomer();
  await eve.route(/\/app\/frame$/, (route) => route.continue({ url: `http://127.0.0.1:${port}/` }));
  await eve.goto(address);
  await signIn(eve);
  const isEmpty = '(message?.URL.endsWith("/app/frame") && message.documentElement === null) || undefined';
  await eve.locator('iframe[title=Message]').waitFor();
  await eventually('the frame has no element yet', () => inFrame<true | undefined>(isEmpty, eve));
  const answered = eve.waitForResponse(/\/render-preview/);
  await write(' meanwhile', eve);
  await (await answered).finished();
  // The page has rendered the answer by the second picture.
  for (let times = 0; times < 2; times++) await eve.evaluate('new Promise(requestAnimationFrame)');
  release();
  await shows(' meanwhile', eve);
  await eve.context().close();
  expect(dashboard.complaints).toEqual([]);
});
