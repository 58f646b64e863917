import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Service, startService } from '../support/service.ts';

let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  await openPack();
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.url } });
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await database?.close();
});

test('the page has a strict policy, and its files last for ever', async () => {
  const page = await fetch(`${service.url}/inspector`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy');
  expect(policy).not.toContain('unsafe');
  expect(policy).toContain("default-src 'none'");
  const [, script = ''] = /src="(\/app\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
  const as = (encoding: string) => fetch(service.url + script, { headers: { 'accept-encoding': encoding } });
  // By HTTP alone most browsers have no brotli.
  const [plain, packed, gzipped] = [await as('identity'), await as('br'), await as('gzip')];
  expect(packed.headers.get('content-encoding')).toBe('br');
  expect(gzipped.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('cache-control')).toContain('immutable');
  const text = await plain.text();
  expect([await packed.text(), await gzipped.text()]).toEqual([text, text]);
  expect((await fetch(`${service.url}${script.replace(/[^/]+$/, 'view-other.js')}`)).status).toBe(404);
  expect((await fetch(`${service.url}${script.replace(/[^/]+$/, '__proto__')}`)).status).toBe(404);
});
