import { describe, expect, test } from 'bun:test';
import { ask, speak, type Told } from './ask.ts';
import { keyOf, startSmallService } from './small-service.ts';

const key = keyOf('live', 'all');
const list = { path: '/v1/things', key };
const headersOf = ({ headers }: Told) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));

describe('the rate limit per address', () => {
  test('counts every answer and reports the remaining requests in its headers', async () => {
    using service = startSmallService({ limits: { perAddress: 500 } });
    const asked = [
      list,
      { path: '/v1/things' },
      { path: '/v1/nothing', key },
      { path: '/page' },
      { path: '/v1/failing/exception', key },
      { path: '/v1/failing/unavailable', key },
      { method: 'OPTIONS', path: '/v1/things' },
      { method: 'HEAD', path: '/v1/things', key },
      { method: 'POST', path: '/v1/things', key, body: '{' },
    ];
    for (const [i, asking] of asked.entries()) {
      expect(headersOf(await ask(service.url, asking))).toEqual(['500', String(499 - i), '60']);
    }
  });

  test('answers 429 with Retry-After before looking at the API key', async () => {
    using service = startSmallService({ limits: { perAddress: 2 } });
    for (let i = 0; i < 2; i++) expect((await ask(service.url, list)).status).toBe(200);
    service.clock.monotonic += 22_500;
    service.lookedUp.length = 0;
    const reply = await ask(service.url, list);
    expect(reply.status).toBe(429);
    expect(reply.body.error.code).toBe('RATE_LIMITED');
    expect(reply.body.error.message).toContain('38 seconds');
    expect(reply.body.error).not.toHaveProperty('retryAfter');
    expect(reply.headers.get('retry-after')).toBe('38');
    expect(headersOf(reply)).toEqual(['2', '0', '38']);
    expect(service.lookedUp).toEqual([]);
  });

  test.each([
    ['HTTP/1.0', 'GET /page HTTP/1.0\r\n'],
    ['an empty Host', 'GET /page HTTP/1.1\r\nHost:\r\nConnection: close\r\n'],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nConnection: close\r\n'],
  ])('counts a request without a usable Host with the others of its address: %s', async (_, head) => {
    using service = startSmallService({ limits: { perAddress: 2 } });
    expect(await speak(service.port, `${head}\r\n`)).toContain('x-ratelimit-remaining: 1\r\n');
    expect(headersOf(await ask(service.url, list))).toEqual(['2', '0', '60']);
    expect(await speak(service.port, `${head}\r\n`)).toStartWith('HTTP/1.1 429 ');
  });

  test('opens a window with the first request that refused ones do not extend', async () => {
    using service = startSmallService({ limits: { perAddress: 1 } });
    expect((await ask(service.url, list)).status).toBe(200);
    for (const second of [0, 20, 39.999]) {
      service.clock.monotonic = 1_000 + 20_000 + second * 1_000;
      expect((await ask(service.url, list)).status).toBe(429);
    }
    service.clock.monotonic = 61_000;
    expect((await ask(service.url, list)).status).toBe(200);
  });

  test('follows the monotonic clock, not the wall clock', async () => {
    using service = startSmallService({ limits: { perAddress: 1 } });
    await ask(service.url, list);
    service.clock.now += 3_600_000;
    expect((await ask(service.url, list)).status).toBe(429);
    service.clock.now -= 7_200_000;
    expect((await ask(service.url, list)).status).toBe(429);
  });

  test('counts an endpoint with its own limit apart', async () => {
    using service = startSmallService({ limits: { perAddress: 5 } });
    const preview = { method: 'POST', path: '/v1/preview', key };
    for (const remaining of ['2', '1', '0']) {
      expect(headersOf(await ask(service.url, preview))).toEqual(['3', remaining, '60']);
    }
    const reply = await ask(service.url, preview);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '60']);
    expect(headersOf(await ask(service.url, list))).toEqual(['5', '4', '60']);
  });

  test('ignores forwarded addresses without a trusted proxy', async () => {
    using service = startSmallService({ limits: { perAddress: 2 } });
    const from = (address: string) => ask(service.url, { ...list, headers: { 'x-forwarded-for': address } });
    await from('203.0.113.1');
    await from('203.0.113.2');
    expect((await from('203.0.113.3')).status).toBe(429);
  });

  test('counts each client behind a trusted proxy', async () => {
    using service = startSmallService({ limits: { perAddress: 1 }, trustProxy: '127.0.0.1' });
    const from = (address: string) => ask(service.url, { ...list, headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.1')).status).toBe(200);
    expect((await from('203.0.113.2')).status).toBe(200);
    expect((await from('8.8.8.8, 203.0.113.1')).status).toBe(429);
  });

  test('sends no headers when it is turned off', async () => {
    using service = startSmallService({ limits: { perAddress: 0 } });
    expect(headersOf(await ask(service.url, list))).toEqual([null, null, null]);
  });
});

describe('the rate limit per API key', () => {
  test('answers 429 without the per-address headers', async () => {
    using service = startSmallService({ limits: { perAddress: 500, perKey: 100 } });
    for (let i = 0; i < 100; i++) expect((await ask(service.url, list)).status).toBe(200);
    const reply = await ask(service.url, list);
    expect(reply.status).toBe(429);
    expect(reply.body.error.code).toBe('RATE_LIMITED');
    expect(reply.body.error.message).toContain('100 requests/second per API key');
    expect(headersOf(reply)).toEqual([null, null, null]);
    expect(reply.headers.get('retry-after')).toBeNull();
  });

  test('counts by clock second and key on every path, refused requests too', async () => {
    using service = startSmallService({ limits: { perKey: 2 } });
    const status = async (asking: object) => (await ask(service.url, { ...list, ...asking })).status;
    expect(await status({ path: '/v1/nothing' })).toBe(404);
    expect(await status({ path: '/v1/things?x=1' })).toBe(422);
    expect(await status({})).toBe(429);
    expect(await status({ key: keyOf('test', 'all') })).toBe(200);
    service.clock.now += 499;
    expect(await status({})).toBe(429);
    service.clock.now += 1;
    expect(await status({})).toBe(200);
  });

  test('ignores requests without a valid key', async () => {
    using service = startSmallService({ limits: { perKey: 1 } });
    for (let i = 0; i < 3; i++) expect((await ask(service.url, { path: '/v1/things' })).status).toBe(401);
    expect((await ask(service.url, list)).status).toBe(200);
  });
});
