import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';

/** The samples of a scrape, by name and labels as they stand in it. */
const samplesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );

test('metrics of requests, commits, outcomes, statements and memory are served on their own port', async () => {
  const port = await freePort();
  await using service = await startRealService({ METRICS_PORT: String(port) });
  const key = await service.keyWith('test', ['*']);
  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return samplesOf(await response.text());
  };
  const to = ['delivered@simulator.svc.test', 'bounced@simulator.svc.test'];
  const send = { from: 'a@b.example', to, subject: 'Hello', text: 'Hi' };
  for (let n = 0; n < 3; n++)
    expect((await service.ask({ method: 'POST', path: '/v1/emails', key, body: send })).status).toBe(202);
  await service.ask({ path: `/v1/emails/em_${'0'.repeat(24)}`, key });
  for (const path of ['/v1/nothing', '/v1/else?a=1', `/${'x'.repeat(500)}`]) await service.ask({ path, key });

  const samples = await eventually('three emails told of', async () => {
    const found = await scrape();
    return found.get('posthorn_email_events_total{type="delivered",livemode="false"}') === 3
      ? found
      : undefined;
  });
  const of = (name: string) => samples.get(name);
  expect(of('posthorn_http_requests_total{method="POST",route="/v1/emails",status="202"}')).toBe(3);
  expect(of('posthorn_http_request_duration_seconds_count{method="POST",route="/v1/emails"}')).toBe(3);
  expect(of('posthorn_http_requests_total{method="GET",route="/v1/emails/:id",status="404"}')).toBe(1);
  expect(of('posthorn_http_requests_total{method="GET",route="unknown",status="404"}')).toBe(3);
  expect(of('posthorn_attempt_outcomes_total{outcome="accepted",livemode="false"}')).toBe(3);
  expect(of('posthorn_attempt_outcomes_total{outcome="refused",livemode="false"}')).toBe(3);
  expect(of('posthorn_email_events_total{type="bounced",livemode="false"}')).toBe(3);
  expect(of('posthorn_transitions_total{kind="email",event="spawned",to="sending",livemode="false"}')).toBe(
    3,
  );
  expect(of('posthorn_engine_batch_actors_count{kind="email"}')).toBeGreaterThan(3);
  expect(of('posthorn_engine_waiting{kind="email"}')).toBe(0);
  expect(of('posthorn_engine_lost_races_total{kind="email"}')).toBe(0);
  expect(of('posthorn_engine_due_lag_seconds')).toBeGreaterThanOrEqual(0);
  // One that is alone hears all others, of which there are none.
  expect(of('posthorn_hears_instances')).toBe(1);
  expect(of('posthorn_database_duration_seconds_count{operation="query"}')).toBeGreaterThan(5);
  expect(of('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  // The page lists what a scrape has, and no name is left over that the source does not register.
  const listed = new Set(readFileSync('docs/metrics.md', 'utf8').match(/(?<=^\| `)\w+/gm));
  const scraped = [...samples.keys()].map((each) => each.replace(/\{.*|_(?:bucket|sum|count)(?=\{|$)/g, ''));
  expect(scraped.filter((name) => !listed.has(name))).toEqual([]);

  // Nothing that a client sent is a label.
  expect([...samples.keys()].join('\n')).not.toMatch(/xxx|nothing|em_|@|a=1/);

  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  expect((await service.ask({ path: '/metrics', key })).status).toBe(404);
});

test('metrics are off unless a port is set', async () => {
  await using service = await startRealService();
  const key = await service.keyWith('test', ['*']);
  expect((await service.ask({ path: '/metrics', key })).status).toBe(404);
});
