import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { brotliDecompressSync } from 'node:zlib';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { type RealService, startRealService } from './real-service.ts';

const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

let service: RealService;
let key: string;

beforeAll(async () => {
  [service] = await Promise.all([startRealService(), openPack()]);
  key = await service.keyWith('test', ['emails:read']);
});
afterAll(() => service[Symbol.asyncDispose]());

async function asked(path: string, init: RequestInit) {
  const reply = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
  const body = (await reply.json().catch(() => null)) as { error?: { code: string } } | null;
  return [reply.status, reply.headers.get('location') ?? body?.error?.code ?? null];
}

test('the endpoints of the pages refuse what no page asks, those of people and probes do not', async () => {
  const headers = { 'content-type': 'application/json' };
  for (const path of ['/app/api/session', '/app/api/setup', '/inspector/api/session'])
    expect([path, ...(await asked(`${path}?utm_source=a`, { method: 'POST', headers, body: '{}' }))]).toEqual(
      [path, 422, 'VALIDATION_ERROR'],
    );
  for (const path of ['/health', '/ready', '/app', '/docs'])
    expect([path, (await asked(`${path}?utm_source=a`, {}))[0]]).not.toEqual([path, 422]);
});

test('what crawlers and programs ask for first is public, and leads to pages that are there', async () => {
  const robots = await fetch(`${service.url}/robots.txt?utm_source=a`);
  expect([robots.status, robots.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await robots.text()).toMatch(/^User-agent: \*\n(Allow: \S+\n)+Disallow: \/\n$/);
  const llms = await fetch(`${service.url}/llms.txt`);
  expect([llms.status, llms.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const text = await llms.text();
  expect(text).toMatch(/^# Posthorn\n\n> /);
  const links = [...text.matchAll(/\]\(https?:\/\/[^/)]+(\/[^)]*)\)/g)].map(([, path = '']) => path);
  expect(links.length).toBeGreaterThan(10);
  for (const path of links)
    expect([path, (await fetch(`${service.url}${path}`)).status]).toEqual([path, 200]);
});

test('a POST of the pages that has no fields takes an empty body, with and without a Content-Type', async () => {
  for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[])
    for (const path of ['/app/api/session', '/app/api/setup', '/app/api/signup'])
      expect([
        path,
        (await asked(path, { method: 'POST', headers: { ...headers, origin: service.url } }))[0],
      ]).not.toEqual([path, 415]);
});

describe('the root path', () => {
  test.each([CHROME, 'text/html', 'TEXT/HTML; charset=utf-8', 'application/json, text/html;q=0.1'])(
    'leads a browser that accepts %s to the application, as GET and HEAD',
    async (accept) => {
      expect(await asked('/', { headers: { accept } })).toEqual([302, '/app']);
      expect(await asked('/', { method: 'HEAD', headers: { accept } })).toEqual([302, '/app']);
    },
  );

  test.each([
    '*/*',
    'application/json',
    '',
    'text/plain',
    'text/html;q=0',
    'text/html;q=0.0, */*',
    'text/htmlx',
  ])('is an unknown path for a client that accepts "%s"', async (accept) => {
    expect(await asked('/', { headers: { accept } })).toEqual([401, 'UNAUTHORIZED']);
    expect(await asked('/', { headers: { accept, authorization: `Bearer ${key}` } })).toEqual([
      404,
      'NOT_FOUND',
    ]);
  });

  test.each(['POST', 'OPTIONS', 'DELETE'])('is an unknown path for %s, even of a browser', async (method) => {
    expect(await asked('/', { method, headers: { accept: CHROME } })).toEqual([401, 'UNAUTHORIZED']);
  });
});

test('the application is there for links into it, under the same policy as the live view', async () => {
  const view = await fetch(`${service.url}/inspector`);
  for (const path of ['/', '/app', '/app/setup', '/app/invitation', '/app/reset']) {
    const page = await fetch(`${service.url}${path}`, { headers: { accept: CHROME } });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toBe(view.headers.get('content-security-policy'));
    expect(await page.text()).toContain('<title>Posthorn</title>');
  }
  const workspace = 'ws_01hzy2k3m4abcdefghjkmnpq';
  for (const path of ['/app/other', '/app/ws_other/live', `/app/${workspace}/other`, '/app/WS_1/live/emails'])
    expect([path, (await fetch(`${service.url}${path}`)).status]).toEqual([path, 401]);
  for (const path of [
    '/app/test',
    '/app/live/emails/em_1',
    '/app/test/contacts/con_1/activity',
    `/app/${workspace}`,
    `/app/${workspace}/test`,
    `/app/${workspace}/live/emails/em_1`,
  ])
    expect((await fetch(`${service.url}${path}`)).headers.get('content-type')).toContain('text/html');
  // Paths beside the pages stay unknown, above all beneath the API.
  const nothing = await fetch(`${service.url}/app/api/test/nothing`);
  expect([nothing.status, ((await nothing.json()) as { error: { message: string } }).error.message]).toEqual([
    401,
    'This request has no session, or the session has ended.',
  ]);
  const { build, page } = await openPack();
  const html = new TextDecoder().decode(brotliDecompressSync(Buffer.from(page.brotli, 'base64')));
  const addresses = html.match(/\/app\/assets\/[^"]+/g) ?? [];
  expect(addresses).toHaveLength(3);
  for (const address of addresses) {
    expect((await fetch(service.url + address)).headers.get('cache-control')).toContain('immutable');
    // A file of another build would load chunks that are no longer there.
    expect((await fetch(service.url + address.replace(build, 'another'))).status).toBe(404);
  }
});
