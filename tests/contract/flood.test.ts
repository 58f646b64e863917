import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { MOST_REFUSALS_A_MINUTE } from '../../src/http/request/pipeline.ts';
import { type Asking, ask } from './ask.ts';
import { keyOf, startSmallService } from './small-service.ts';

const key = keyOf('live', 'all');
const MEGABYTE = 1_048_576;

/** One of each kind of nuisance, no two alike. */
const nuisances = (i: number): Asking[] => [
  { path: `/v1/things/${i}`, key },
  { path: `/v1/${i}`, key },
  { path: `/v1/things?x${i}=${'y'.repeat(2_000)}`, key },
  { path: '/v1/things', key: `svc_live_${String(i).padStart(32, 'x')}` },
  { method: 'POST', path: '/v1/things', key, body: `{"name":"${'['.repeat(5_000)}${i}` },
  { method: 'POST', path: '/v1/things', key, body: `{"m${i}":${'['.repeat(2_000)}${']'.repeat(2_000)}}` },
  { method: 'POST', path: '/v1/things', key, body: JSON.stringify({ [`m${i}`]: 'z'.repeat(5_000) }) },
  {
    method: 'POST',
    path: '/v1/import',
    key,
    body: 'x'.repeat(10_000),
    headers: { 'content-type': 'text/csv' },
  },
  { method: 'POST', path: '/v1/things', key, body: {}, headers: { 'content-type': `text/${i}` } },
  {
    method: 'POST',
    path: '/v1/preview',
    key,
    headers: { 'idempotency-key': 'k'.repeat(300), 'x-forwarded-for': `10.${i >> 8}.${i & 255}.1` },
  },
];

test('ten thousand hostile requests leave no memory or rows behind, and few log entries', async () => {
  using service = startSmallService({ limits: { perAddress: 1_000_000 }, trustProxy: '127.0.0.1' });
  const send = async (from: number, rounds: number) => {
    for (let i = from; i < from + rounds; i += 5) {
      const batch = Array.from({ length: 5 }, (_, offset) => nuisances(i + offset)).flat();
      for (const { status } of await Promise.all(batch.map((asking) => ask(service.url, asking)))) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
      }
    }
    service.observed.length = 0;
    service.lookedUp.length = 0;
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const before = await send(0, 200);
  const after = await send(200, 1_000);
  expect(after - before).toBeLessThan(5 * MEGABYTE);
  expect(service.logged.length).toBe(MOST_REFUSALS_A_MINUTE);
  expect(new Set(service.logged.map(({ message }) => message))).toEqual(new Set(['Access was refused']));
});
