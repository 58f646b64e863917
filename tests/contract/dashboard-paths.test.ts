import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPack } from '../../src/dashboard/pack.ts';
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
  const body = (await reply.json().catch(() => null)) as { error: { code: string } } | null;
  return [reply.status, reply.headers.get('location') ?? body?.error.code ?? null];
}

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

test('the application leads to the live view, which is there', async () => {
  const page = await fetch(`${service.url}/`, { headers: { accept: CHROME } });
  expect([page.status, new URL(page.url).pathname]).toEqual([200, '/inspector']);
  expect(await page.text()).toContain('<title>Posthorn');
});
