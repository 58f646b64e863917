import { expect, test } from 'bun:test';
import { runStorm } from './webhook-storm-run.ts';

// The short form of webhook-storm.ts.

const storm = { tenants: 3, endpoints: 6, emails: 150, emailsPerSecond: 30, refusals: 1 } as const;

test('a dead webhook endpoint delays no other endpoint, and retries keep their schedule', async () => {
  const report = await runStorm({ ...storm, kills: 0 });
  expect(report).toMatchObject({ events: 300, missing: 0, twice: 0, stuck: 0 });
  expect(report.expected).toBeGreaterThan(1_000);
  // A wait for one attempt at the dead endpoint would take ten seconds at least. The figure itself, below a
  // second, is that of the long form.
  expect(report.p99).toBeLessThan(10_000);
  expect(report.deadAttempts).toBeGreaterThan(0);
  expect(report.retries).toBeGreaterThan(0);
  expect(report.earliestRetry).toBeGreaterThanOrEqual(0);
});

test('kill -9 amid webhook deliveries loses none of them', async () => {
  const report = await runStorm({ ...storm, emails: 90, kills: 2 });
  expect(report).toMatchObject({ events: 180, missing: 0, stuck: 0 });
  expect(report.earliestRetry).toBeGreaterThanOrEqual(0);
});
