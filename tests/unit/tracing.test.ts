import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { openTracing } from '../../src/platform/telemetry/open-tracing.ts';
import { MOST_SPANS_AT_ONCE, MOST_WAITING_SPANS } from '../../src/platform/telemetry/otlp-tracing.ts';
import type { Tracing } from '../../src/platform/telemetry/tracing.ts';
import { openCollector } from '../support/collector.ts';

const warnings: string[] = [];
const open = async (endpoint: string, ratio = 1): Promise<Tracing> => {
  const options = { headers: {}, serviceName: 'posthorn', version: '1', ratio };
  const warn = (_: unknown, message: string) => void warnings.push(message);
  const opened = await openTracing({ ...options, endpoint, now: Date.now, warn });
  if (!opened) throw new Error('It did not open.');
  return opened;
};

const record = (tracing: Tracing, emailId: string) =>
  tracing.record({ emailId, name: 'email attempt', startedAt: Date.now(), attributes: {}, problem: null });

test('spans beyond those that may wait are dropped, and none of them waits for the collector', async () => {
  using collector = openCollector();
  const answering = Promise.withResolvers<void>();
  collector.before = () => answering.promise;
  const tracing = await open(collector.url);
  const most = MOST_SPANS_AT_ONCE + MOST_WAITING_SPANS;
  for (let n = 0; n < 2 * most; n++) record(tracing, `em_${n}`);
  await collector.until('the first post', (spans) => spans.length > 0);
  answering.resolve();
  await collector.until('those that waited', (spans) => spans.length >= MOST_WAITING_SPANS);
  await tracing.close();
  expect(collector.spans.length).toBeLessThanOrEqual(most);
});

/** Of 400 emails with the ids below; these are hashed, so that it is no chance. */
const RECORDED = 105;

test('a share of emails is recorded: each as a whole or not at all, the same by every instance', async () => {
  using collector = openCollector();
  const instances = [await open(collector.url, 0.25), await open(collector.url, 0.25)];
  const ids = Array.from({ length: 400 }, (_, n) => `em_${n}`);
  for (const id of ids) {
    instances[0]?.accepted(id, Date.now(), {});
    for (const one of instances) record(one, id);
  }
  await collector.until('all spans', (spans) => spans.length >= 3 * RECORDED);
  for (const one of instances) await one.close();
  const counts = new Map<string, number>();
  for (const { traceId } of collector.spans) counts.set(traceId, (counts.get(traceId) ?? 0) + 1);
  expect(new Set(counts.values())).toEqual(new Set([3]));
  expect(counts.size).toBe(RECORDED);
});

test('an unanswering collector is not waited for at the end', async () => {
  using collector = openCollector();
  const never = Promise.withResolvers<void>();
  collector.before = () => never.promise;
  const tracing = await open(collector.url);
  record(tracing, 'em_1');
  await tracing.close();
  await collector.until('the span', (spans) => spans.length === 1);
  never.resolve();
});

test('nothing of the library is loaded where no collector is named', () => {
  const script = `
    const { openTracing } = await import(${JSON.stringify(resolve(import.meta.dir, '../../src/platform/telemetry/open-tracing.ts'))});
    const loaded = () => Object.keys(require.cache).filter((path) => path.includes('@opentelemetry')).length;
    const options = { headers: {}, serviceName: 'p', version: '1', ratio: 1, now: Date.now, warn() {} };
    const opened = await openTracing({ ...options, endpoint: null });
    const before = loaded();
    await openTracing({ ...options, endpoint: 'http://127.0.0.1:9' });
    console.log(opened, before, loaded() > 0);
    process.exit(0);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(`${stdout}${stderr}`.trim()).toBe('null 0 true');
});
