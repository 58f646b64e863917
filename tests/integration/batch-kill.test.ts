import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';

const SIZE = 20;
const CALL = {
  emails: Array.from({ length: SIZE }, (_, index) => ({
    from: 'shop@acme.example',
    to: 'delivered@simulator.svc.test',
    subject: `Once, number ${index}`,
    text: 'Whatever happens.',
  })),
};
const SETTINGS = {
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  TEST_SENDS_PER_DAY: '0',
  LOG_LEVEL: 'silent',
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
};

/**
 * Sends the batch with the key, over the addresses in turn, until it was accepted whole; the ids of its
 * emails.
 */
async function untilAcknowledged(urls: readonly string[], key: string): Promise<readonly string[]> {
  let n = 0;
  const statuses = new Set<number>();
  const acknowledged = await eventually(`the batch ${key}`, async () => {
    // This throws while the service is down, and is tried again.
    const client = createClient(urls[n++ % urls.length] as string, TEST_KEY);
    const { status, body } = await client.post('/v1/emails/batch', CALL, { 'idempotency-key': key });
    statuses.add(status);
    const ids = status === 202 ? body.data.map(({ id }: { id?: string }) => id) : [undefined];
    return ids.includes(undefined) ? undefined : ids;
  });
  expect([...statuses].filter((status) => ![202, 409, 503].includes(status))).toEqual([]);
  return acknowledged;
}

test('kill -9 amid batches: each key has its set of emails, whole and once', async () => {
  await using database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1 });
  const env = { ...SETTINGS, DATABASE_URL: database.url };
  let service: Service = await startService({ env });
  const { port, url } = service;
  try {
    const acknowledged: (readonly string[])[] = [];
    let going = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (going) acknowledged.push(await untilAcknowledged([url], randomUUID()));
    });
    for (let kill = 0; kill < 4; kill++) {
      const goal = acknowledged.length + 15;
      await eventually('more batches', () => acknowledged.length >= goal || undefined, { everyMs: 1 });
      await service.kill();
      service = await startService({ env, port });
    }
    going = false;
    await Promise.all(clients);
    const [there] = await sql`select count(*)::integer as n from emails`;
    expect(new Set(acknowledged.flat()).size).toBe(acknowledged.length * SIZE);
    expect(there?.n).toBe(acknowledged.length * SIZE);
  } finally {
    await service[Symbol.asyncDispose]();
    await sql.end();
  }
});

test('the same call on two instances at once makes one set, which both answer', async () => {
  await using database = await createTestDatabase();
  const env = { ...SETTINGS, DATABASE_URL: database.url };
  await using one = await startService({ env });
  await using other = await startService({ env });
  const sql = postgres(database.url, { max: 1 });
  try {
    for (let round = 1; round <= 10; round++) {
      const key = randomUUID();
      const sets = await Promise.all([one.url, other.url].map((url) => untilAcknowledged([url], key)));
      expect(sets[0]).toEqual(sets[1] as string[]);
      const [there] = await sql`select count(*)::integer as n from emails`;
      expect(there?.n).toBe(round * SIZE);
    }
  } finally {
    await sql.end();
  }
});
