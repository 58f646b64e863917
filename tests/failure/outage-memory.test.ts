import { expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { load, preparePost } from '../bench/load.ts';
import { StatementRelay } from '../support/engine-relay.ts';
import { eventually } from '../support/eventually.ts';
import { livedMsBeside } from '../support/own-time.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';

const MEGABYTE = 1_048_576;
const BODY = { from: 'a@b.example', to: 'c@d.example', subject: 'Hello', text: 'x'.repeat(40_000) };

test('memory stays bounded while requests pour in and the database is frozen', async () => {
  await using database = await createTestDatabase();
  await using relay = await StatementRelay.to(database.url);
  const metricsPort = await freePort();
  await using service = await startService({
    env: {
      DATABASE_URL: relay.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      LOG_LEVEL: 'silent',
      METRICS_PORT: String(metricsPort),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      TEST_SENDS_PER_DAY: '0',
    },
  });
  const resident = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / MEGABYTE;
  };
  const request = preparePost(service.port, '/v1/emails', TEST_KEY, BODY);
  await load(request, 64, 1_000);
  const before = await resident();

  relay.freeze({ newcomersToo: true });
  // 512 clients that wait for their answers: the first ones 7 s, later ones less than a second.
  const samples: number[] = [];
  for (let round = 0; round < 4; round++) {
    const { statuses } = await load(request, 512, 1_000);
    expect(statuses).toEqual({ 503: 1_000 });
    samples.push(Math.round(await resident()));
  }
  console.log(`Resident MiB: ${before.toFixed(0)} before; after each 1,000 refusals ${samples.join(', ')}.`);
  // It goes up and down with the garbage collector (155 to 300 over 32,000 refusals), and comes down again.
  expect(Math.min(...samples)).toBeLessThan(before + 100);
  expect(Math.max(...samples)).toBeLessThan(before + 400);

  relay.thaw({ dead: true });
  const healing = await livedMsBeside(database.url, () =>
    eventually('it heals', async () => ((await fetch(`${service.url}/health`)).ok ? true : undefined)),
  );
  expect(healing).toBeLessThan(1_000);
  expect((await load(request, 64, 200)).statuses).toEqual({ 202: 200 });
});
