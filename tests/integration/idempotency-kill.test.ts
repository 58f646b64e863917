import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';

const EMAIL = {
  from: 'shop@acme.example',
  to: 'delivered@simulator.svc.test',
  subject: 'Once',
  text: 'Whatever happens.',
};
const LIMITLESS = {
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  TEST_SENDS_PER_DAY: '0',
  LOG_LEVEL: 'silent',
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
};

/** Sends with the key, over the clients in turn, until one answers 202. */
async function untilAcknowledged(clients: readonly Client[], key: string): Promise<string> {
  let n = 0;
  const statuses = new Set<number>();
  const id = await eventually(`the email ${key}`, async () => {
    // This throws while the service is down, and is tried again.
    const client = clients[n++ % clients.length] as Client;
    const { status, body } = await client.post('/v1/emails', EMAIL, { 'idempotency-key': key });
    statuses.add(status);
    return status === 202 ? body.data.id : undefined;
  });
  expect([...statuses].filter((status) => ![202, 409, 503].includes(status))).toEqual([]);
  return id;
}

test('kill -9 under load: no key without its email, no email without its key, and one of each', async () => {
  await using database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1 });
  const env = { ...LIMITLESS, DATABASE_URL: database.url };
  let service: Service = await startService({ env });
  const { port } = service;
  try {
    const client = createClient(service.url, TEST_KEY);
    const acknowledged = new Map<string, string>();
    let going = true;
    const clients = Array.from({ length: 16 }, async () => {
      while (going) {
        const key = randomUUID();
        acknowledged.set(key, await untilAcknowledged([client], key));
      }
    });
    for (let kill = 0; kill < 3; kill++) {
      const goal = acknowledged.size + 150;
      await eventually('more emails', () => acknowledged.size >= goal || undefined, { everyMs: 1 });
      await service.kill();
      // Both directions, as the crash has left it: what is in one of the tables is in the other.
      const [torn] = await sql`
        select count(*) filter (where e.id is null)::integer as keys, count(*) filter (where k.key is null)::integer as emails
        from idempotency_keys k full join emails e on e.id = k.reply::json ->> 'id'`;
      expect({ ...torn }).toEqual({ keys: 0, emails: 0 });
      service = await startService({ env, port });
    }
    going = false;
    await Promise.all(clients);
    const rows = await sql`select key, reply::json ->> 'id' as id from idempotency_keys`;
    expect(new Map(rows.map(({ key, id }) => [key, id]))).toEqual(acknowledged);
    const [emails] = await sql`select count(*)::integer as n from emails`;
    expect(emails?.n).toBe(acknowledged.size);
  } finally {
    await service[Symbol.asyncDispose]();
    await sql.end();
  }
});

test('100 parallel calls with one key on two instances: one email, one reply', async () => {
  await using database = await createTestDatabase();
  const env = { ...LIMITLESS, DATABASE_URL: database.url };
  await using one = await startService({ env });
  await using other = await startService({ env });
  const sql = postgres(database.url, { max: 1 });
  try {
    const clients = [createClient(one.url, TEST_KEY), createClient(other.url, TEST_KEY)];
    for (let round = 1; round <= 5; round++) {
      const key = randomUUID();
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          (clients[n % 2] as Client).post('/v1/emails', EMAIL, { 'idempotency-key': key }),
        ),
      );
      const done = replies.filter(({ status }) => status === 202);
      expect(done.length).toBeGreaterThan(0);
      expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(done.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toHaveLength(1);
      for (const { status, body } of replies)
        if (status !== 202) expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
      const [emails] = await sql`select count(*)::integer as n from emails`;
      expect(emails?.n).toBe(round);
    }
  } finally {
    await sql.end();
  }
});

test('secrets are shown once more by a replay, and stored nowhere in clear text', async () => {
  await using database = await createTestDatabase();
  await using service = await startService({ env: { ...LIMITLESS, DATABASE_URL: database.url } });
  const client = createClient(service.url, LIVE_KEY);
  const secrets: string[] = [LIVE_KEY, TEST_KEY];
  const twice = async (
    path: string,
    body: unknown,
    secretOf: (data: Record<string, string>) => string | undefined,
  ) => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await client.post(path, body, key);
    expect(first.status).toBeLessThan(300);
    const again = await client.post(path, body, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const secret = secretOf(first.body.data);
    expect(secret).toBeString();
    secrets.push(secret as string);
    return first.body.data;
  };
  await twice('/v1/api-keys', { name: 'A', env: 'live', permissions: ['*'] }, ({ key }) => key);
  const endpoint = { url: 'https://hooks.example.com/in', events: ['delivered'] };
  const { id } = await twice('/v1/webhooks', endpoint, ({ secret }) => secret);
  await twice(`/v1/webhooks/${id}/rotate-secret`, {}, ({ secret }) => secret);

  const sql = postgres(database.url, { max: 1 });
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I', c.relname) as name from pg_class c
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not c.relispartition`;
    expect(tables.map(({ name }) => name)).toContain('idempotency_keys');
    let dump = '';
    for (const { name } of tables)
      for (const { row } of await sql.unsafe(`select t::text as row from ${name} t`)) dump += `${row}\n`;
    expect(dump).toContain('sealed:1:');
    for (const secret of secrets) {
      // Nor in another guise that hides nothing.
      for (const form of [
        secret,
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('hex'),
      ])
        expect(dump.includes(form)).toBe(false);
    }
  } finally {
    await sql.end();
  }
});
