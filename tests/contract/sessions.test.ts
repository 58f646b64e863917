import { afterAll, describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { mount } from '../../src/http/request/mount.ts';
import { route } from '../../src/http/request/route.ts';
import { type Asking, ask, speak } from './ask.ts';
import { keyOf, startSmallService, THING } from './small-service.ts';

// A browser sends its cookie with requests that any page causes. These tests send what an attacker's page
// could cause.

const service = startSmallService();
afterAll(() => service[Symbol.dispose]());

const OPERATOR = { cookie: 'session=operator' };
const OWN = { 'sec-fetch-site': 'same-origin' };
const JSON_TYPE = { 'content-type': 'application/json' };
const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];

async function told(asking: Asking): Promise<[number, string | undefined]> {
  const { status, body } = await ask(service.url, asking);
  return [status, body?.error?.code];
}
const things = (method: string, headers: Record<string, string>): Asking => ({
  method,
  path: '/app/things',
  headers: { ...OPERATOR, ...headers },
});

describe('the session of a browser', () => {
  test('is a separate kind of principal, on the plan of its workspace', async () => {
    const { body } = await ask(service.url, things('GET', {}));
    expect(body.data).toEqual({ kind: 'operatorLink', plan: 'growth' });
    const reader = await ask(service.url, { path: '/app/things', headers: { cookie: 'session=reader' } });
    expect(reader.body.data.kind).toBe('key');
  });

  test('is not there without a cookie, whatever key is sent', async () => {
    const key = keyOf('live', 'all');
    expect(await told({ path: '/app/things' })).toEqual([401, 'UNAUTHORIZED']);
    expect(await told({ path: '/app/things', key })).toEqual([401, 'UNAUTHORIZED']);
  });

  test('is refused where a route does not take its kind of principal', async () => {
    expect(await told({ path: '/app/keys-only', headers: OPERATOR })).toEqual([403, 'FORBIDDEN']);
    expect((await told({ path: '/app/keys-only', headers: { cookie: 'session=reader' } }))[0]).toBe(200);
  });

  test('changes something from an own page, with JSON', async () => {
    for (const method of CHANGING) {
      expect(await told(things(method, { ...OWN, ...JSON_TYPE }))).toEqual([200, undefined]);
      const byOrigin = { origin: 'https://mail.example.com', ...JSON_TYPE };
      expect(await told(things(method, byOrigin))).toEqual([200, undefined]);
    }
  });
});

describe('an attacker', () => {
  test('who submits a form from another site changes nothing', async () => {
    service.done.length = 0;
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])
      for (const site of ['cross-site', 'same-site', 'none']) {
        const headers = { 'sec-fetch-site': site, origin: 'https://evil.example', 'content-type': type };
        expect(await told({ ...things('POST', headers), body: '{}' })).toEqual([403, 'FORBIDDEN']);
      }
    expect(service.done).toEqual([]);
  });

  test('who finds a way to submit a form from an own page has no JSON', async () => {
    service.done.length = 0;
    const typed = { ...OWN, 'content-type': 'text/plain' };
    for (const method of CHANGING)
      for (const body of ['{}', ''])
        expect(await told({ ...things(method, typed), body })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(service.done).toEqual([]);
  });

  test('who fetches from another site, or from a browser that says nothing, changes nothing', async () => {
    service.done.length = 0;
    for (const method of CHANGING)
      for (const headers of [
        {},
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://mail.example.com' },
        { referer: 'https://mail.example.com/app' },
      ])
        expect(await told({ ...things(method, { ...headers, ...JSON_TYPE }), body: {} })).toEqual([
          403,
          'FORBIDDEN',
        ]);
    expect(service.done).toEqual([]);
  });

  test('gets no leave from a preflight', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const { headers: answered } = await ask(service.url, { ...things('OPTIONS', headers) });
    expect([...answered.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('uses up nothing of the rate limit of whom he attacks', async () => {
    using limited = startSmallService({ limits: { perKey: 1 } });
    const forged = { ...things('POST', { 'sec-fetch-site': 'cross-site', ...JSON_TYPE }), body: {} };
    for (let i = 0; i < 5; i++) expect((await ask(limited.url, forged)).status).toBe(403);
    expect((await ask(limited.url, things('GET', {}))).status).toBe(200);
  });
});

describe('under /v1', () => {
  test('no cookie is read, from whichever page it comes', async () => {
    service.done.length = 0;
    for (const asking of [
      { path: '/v1/things' },
      { path: `/v1/things/${THING}` },
      { method: 'POST', path: '/v1/things', body: { name: 'a' } },
      { method: 'DELETE', path: `/v1/things/${THING}` },
      { path: '/v1/nothing' },
    ])
      expect(await told({ ...asking, headers: { ...OPERATOR, ...OWN } })).toEqual([401, 'UNAUTHORIZED']);
    expect(service.done).toEqual([]);
  });

  test('no route can ask for one', () => {
    const wrong = route('GET /v1/wrong', {
      permission: 'any key',
      credential: 'session',
      summary: 'Wrong',
      response: Type.Null(),
      status: 204,
      handle: () => null,
    });
    expect(() => mount([wrong], {} as never)).toThrow('endpoints under /v1 do not read cookies');
  });

  test('nor any other way to write its path', async () => {
    for (const path of ['/app/../v1/things', '//v1/things', '/V1/things', '/v1%2fthings', '/./v1/things']) {
      const heard = await speak(
        service.port,
        `GET ${path} HTTP/1.1\r\nHost: a\r\nCookie: session=operator\r\nConnection: close\r\n\r\n`,
      );
      expect([path, heard.split(' ')[1]]).toEqual([path, '401']);
    }
  });
});
