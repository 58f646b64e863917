import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { RateLimiter } from '../../../src/http/limits/rate-limit.ts';
import type { Exchange } from '../../../src/http/request/exchange.ts';
import { mount } from '../../../src/http/request/mount.ts';
import { route } from '../../../src/http/request/route.ts';
import { LocalCounter } from '../../../src/platform/time/window-counter.ts';

const counter = new LocalCounter(60_000, () => 0);
const waiting = route('POST /waiting', {
  permission: 'public',
  summary: 'Wait',
  response: Type.Null(),
  status: 204,
  waitsMs: 60_000,
  handle: () => null,
});
const taking = route('POST /things', {
  permission: 'public',
  summary: 'Take',
  body: Type.Object({ name: Type.String() }),
  response: Type.Null(),
  status: 204,
  handle: () => null,
});
const failing = route('POST /failing', {
  permission: 'public',
  summary: 'Fail',
  body: Type.Object({ name: Type.String() }),
  response: Type.Null(),
  status: 204,
  handle: () => Promise.reject(new Error('It failed on purpose.')),
});
const app = mount([waiting, taking, failing], {
  authenticate: () => null,
  baseUrl: 'http://localhost',
  limiter: new RateLimiter({ perAddress: 0, perKey: 0 }, counter, counter),
  clientAddress: (socket) => socket,
  clock: { now: () => 0, monotonic: () => 0 },
  log: { warn() {}, error() {} },
});

/** A request as Bun gives it: without a usable Host its URL is the bare target. */
function requestTo(url: string): Request & { readonly exchange?: Exchange } {
  const request = new Request('http://localhost/', { method: 'POST' });
  return Object.defineProperty(request, 'url', { value: url });
}

test.each([
  ['a URL', 'http://a.example/waiting', 204],
  ['a bare path', '/waiting', 204],
  ['a bare path with a query', '/waiting?', 204],
  ['an authority', ':99999999', 401],
])('the server is asked about the original request, not about a copy: %s', async (_, url, status) => {
  const request = requestTo(url);
  const heard: Request[] = [];
  const { status: answered } = await app.fetch(request, {
    requestIP: (its) => {
      heard.push(its);
      return null;
    },
    timeout: (its) => void heard.push(its),
  });
  expect(answered).toBe(status);
  expect(heard).toHaveLength(status === 204 ? 2 : 1);
  for (const its of heard) expect(its).toBe(request);
});

test.each([
  ['an answer', '/things', '{"name":"a"}', 204],
  ['a refusal', '/things', '{"name":1}', 422],
  ['a thrown error', '/failing', '{"name":"a"}', 500],
])('a request keeps nothing of its body after %s', async (_, path, body, status) => {
  const request: Request & { readonly exchange?: Exchange } = new Request(`http://localhost${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
  });
  const response = await app.fetch(request, { requestIP: () => null, timeout() {} });
  expect(response.status).toBe(status);
  expect(request.exchange).toMatchObject({ input: null, call: null, claim: null });
});
