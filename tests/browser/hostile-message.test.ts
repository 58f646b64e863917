import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { TEST_KEY } from '../support/service.ts';
import { PATIENCE_MS } from './chromium.ts';
import { type Dashboard, openDashboard, ownerPage, placeOf, pressOn } from './dashboard.ts';
import { sidewaysOf } from './looks.ts';

/**
 * A server that answers nothing and remembers who connected: a connection alone tells the sender that the
 * message is read.
 */
interface Listener {
  readonly server: Server;
  readonly port: number;
  connections: number;
}

async function listen(): Promise<Listener> {
  const listener = { connections: 0 };
  const server = createServer((socket) => {
    listener.connections++;
    socket.on('error', () => {}).end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return Object.assign(listener, { server, port });
}

/** Everything by which a message reaches out when it is merely looked at, each to a separate listener. */
const ATTACKS = {
  preconnect: (to: string) => `<link rel="preconnect" href="${to}">`,
  'preconnect in a body, beside text': (to: string) =>
    `<p>Hi</p><svg><style><p><LINK rel=preconnect href=${to}>`,
  prefetch: (to: string) => `<link rel="prefetch" href="${to}/prefetch">`,
  preload: (to: string) => `<link rel="preload" as="image" href="${to}/preload">`,
  stylesheet: (to: string) => `<link rel="stylesheet" href="${to}/style.css">`,
  script: (to: string) => `<script src="${to}/x.js"></script><script>fetch("${to}")</script>`,
  'event handler': (to: string) => `<img src=x onerror="fetch('${to}')"><body onload="fetch('${to}')">`,
  'meta refresh': (to: string) => `<meta http-equiv="refresh" content="0;url=${to}/refresh">`,
  form: (to: string) =>
    `<form id=f action="${to}"><input autofocus name=q value=1></form><script>f.submit()</script>`,
  'style sheet that reads': (to: string) =>
    `<style>@import "${to}/i.css";@font-face{font-family:f;src:url(${to}/f)}
     input[value^="s"]{background:url(${to}/s)}body{font-family:f;cursor:url(${to}/c),auto}</style><input value="secret">`,
  image: (to: string) =>
    `<img src="${to}/pixel.gif" srcset="${to}/2x.gif 2x"><body background="${to}/b.gif">`,
  'image of an SVG': (to: string) => `<svg><image href="${to}/i.svg"/><use href="${to}/u.svg#a"/></svg>`,
  frame: (to: string) =>
    `<iframe src="${to}/frame"></iframe><object data="${to}/o"></object><embed src="${to}/e">`,
  media: (to: string) =>
    `<video autoplay poster="${to}/p.png" src="${to}/v.mp4"></video><audio autoplay src="${to}/a"></audio>`,
  base: (to: string) => `<base href="${to}/"><img src="relative.gif">`,
} as const satisfies Record<string, (to: string) => string>;
type Attack = keyof typeof ATTACKS;
const NAMES = Object.keys(ATTACKS) as Attack[];
/**
 * Far larger than any window, so that nothing below it could be read if it were shown as large as it asks.
 */
const HUGE =
  '<img alt="" width="100000" height="100000" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">';

let dashboard: Dashboard;
let page: Page;
let listeners: ReadonlyMap<Attack, Listener>;
/** A page that shows the same message and forbids it nothing. */
let careless: ReturnType<typeof Bun.serve>;
let id: string;

const reached = (): readonly Attack[] => NAMES.filter((name) => (listeners.get(name)?.connections ?? 0) > 0);

beforeAll(async () => {
  dashboard = await openDashboard();
  listeners = new Map(await Promise.all(NAMES.map(async (name) => [name, await listen()] as const)));
  const html =
    NAMES.map((name) => ATTACKS[name](`http://127.0.0.1:${listeners.get(name)?.port}`)).join('\n') + HUGE;
  careless = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(`<!doctype html>${html}`, { headers: { 'content-type': 'text/html' } }),
  });
  const { status, body } = await createClient(dashboard.service.url, TEST_KEY).post('/v1/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Look at me',
    html: `${html}<h1>The end</h1>`,
  });
  expect(status).toBe(202);
  id = body.data.id;
  page = await ownerPage(dashboard);
});
afterAll(async () => {
  for (const { server } of listeners?.values() ?? []) server.close();
  await careless?.stop(true);
  await dashboard?.[Symbol.asyncDispose]();
});

test('a message that reaches out in every way is shown, and no server hears of it', async () => {
  const { url } = dashboard.service;
  await page.goto(`${url}/app/test/emails/${id}`);
  await page.frameLocator('iframe[title="Message"]').getByRole('heading', { name: 'The end' }).waitFor();
  expect(placeOf(page)).toBe(`${url}/app/test/emails/${id}`);
  // Huge content stays inside its frame: the page around it does not grow.
  expect(await sidewaysOf(page)).toBe(0);
  // To list where it leads, the page reads it itself.
  await pressOn(page.getByRole('radio', { name: 'Links' }), 'Space');
  await page.getByText('The message has no links.').waitFor();
  // Its address by itself is no way around the frame.
  await page.goto(`${url}/app/api/test/emails/${id}/html`);
  await page.getByRole('heading', { name: 'The end' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(reached()).toEqual([]);
});

test('the same message on a careless page is heard of, so that the silence above says something', async () => {
  const context = await dashboard.browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  const visitor = await context.newPage();
  await visitor.goto(careless.url.href, { waitUntil: 'commit' });
  // This Chromium is started without connections ahead of time, so of `preconnect`
  // tests/unit/resource-hints.test.ts tells more.
  await eventually('the connections of an image and a script', async () => {
    const now = reached();
    return now.includes('image') && now.includes('script') ? now : undefined;
  });
  await context.close();
});
