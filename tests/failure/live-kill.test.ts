import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';
import { timersPassed } from '../support/stored-email.ts';

const EMAILS = 60;
const SLOTS = 8;

/** A server that takes a while between the final dot and its reply: there the sender is killed. */
let sink: Sink;
const received: string[] = [];
/** The replies that it keeps back, from the message of that number on. */
let keptFrom = Number.POSITIVE_INFINITY;
const keptReplies: (() => void)[] = [];
let database: TestDatabase;
let sql: postgres.Sql;
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-kill-'));

beforeAll(async () => {
  database = await createTestDatabase();
  sql = postgres(database.url, { max: 1 });
  sink = await startSink({
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push(/^Message-ID: <(em_\w+)@/m.exec(Buffer.concat(chunks).toString())?.[1] ?? '');
        if (received.length >= keptFrom) keptReplies.push(done);
        else setTimeout(done, 25);
      });
    },
  });
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await start('capture', 'retry');
  const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  expect(added.body.data.status).toBe('verified');
  await first.stop();
});
afterAll(async () => {
  await sink[Symbol.asyncDispose]();
  await sql.end();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = (transport: string, policy: 'retry' | 'hold'): Promise<Service> =>
  startService({
    dataDir,
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      TRANSPORT: transport,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
      UNKNOWN_OUTCOME: policy,
      SENDING_SLOTS: String(SLOTS),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });

/**
 * Lets the leases of all attempts end that were under way in a process that is dead, once its last commit has
 * ended.
 */
const passLeases = async () => {
  await eventually('no connection is left', async () => {
    const [others] = await sql`select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
    return others?.n === 0 || undefined;
  });
  for (const text of timersPassed(`'sending'`)) await sql.unsafe(text);
};

async function sendAll(service: Service): Promise<readonly string[]> {
  const client = insisting(createClient(service.url, LIVE_KEY));
  const replies = await Promise.all(
    Array.from({ length: EMAILS }, (_, n) =>
      client.post('/v1/emails', {
        from: 'shop@sender.example',
        to: `r${n}@example.com`,
        subject: `Order ${n}`,
        text: 'It is on its way.',
      }),
    ),
  );
  for (const { status, body } of replies)
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
  return replies.map(({ body }) => body.data.id);
}

const stateCounts = async (ids: readonly string[]): Promise<Record<string, number>> => {
  const rows = await sql<{ state: string; n: number }[]>`
    select state, count(*)::int as n from emails_now where id = any(${[...ids]}) group by state`;
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
};

const copies = (id: string): number => received.filter((one) => one === id).length;

describe('killing the service while mail servers answer', () => {
  test('loses no email, and sends at most those twice that were under way', async () => {
    let service = await start('smtp', 'retry');
    const ids = await sendAll(service);
    let kills = 0;
    for (const share of [0.2, 0.5]) {
      await eventually('some are received', async () =>
        received.length >= EMAILS * share ? true : undefined,
      );
      await service.kill();
      kills++;
      await passLeases();
      service = await start('smtp', 'retry');
    }
    await eventually('all are sent', async () =>
      (await stateCounts(ids)).sent === EMAILS ? true : undefined,
    );
    await service.stop();
    for (const id of ids) expect(copies(id)).toBeGreaterThanOrEqual(1);
    const twice = ids.reduce((sum, id) => sum + copies(id) - 1, 0);
    expect(twice).toBeLessThanOrEqual(kills * SLOTS);
    const events =
      await sql`select email_id from email_events where type = 'sent' and email_id = any(${[...ids]})`;
    expect(events).toHaveLength(EMAILS);
  });

  test('sends nothing twice where a doubt is held, and says of whom it does not know', async () => {
    received.length = 0;
    keptFrom = EMAILS * 0.3;
    let service = await start('smtp', 'hold');
    const ids = await sendAll(service);
    await eventually('a reply is kept back', async () => (keptReplies.length > 0 ? true : undefined));
    await service.kill();
    keptFrom = Number.POSITIVE_INFINITY;
    for (const reply of keptReplies.splice(0)) reply();
    await passLeases();
    service = await start('smtp', 'hold');
    const settled = await eventually('all have come to rest', async () => {
      const { sent = 0, deferred = 0 } = await stateCounts(ids);
      return sent + deferred === EMAILS ? { sent, deferred } : undefined;
    });
    await service.stop();
    for (const id of ids) expect(copies(id)).toBeLessThanOrEqual(1);
    expect(settled.deferred).toBeGreaterThan(0);
    expect(new Set(received).size).toBeGreaterThanOrEqual(settled.sent);
  });

  test('stopping instead finishes attempts under way: nothing lost, doubled or left to a lease', async () => {
    received.length = 0;
    let service = await start('smtp', 'retry');
    const ids = await sendAll(service);
    await eventually('some are received', async () => (received.length >= 10 ? true : undefined));
    expect(await service.stop()).toBe(0);
    expect((await stateCounts(ids)).sending).toBeUndefined();
    service = await start('smtp', 'retry');
    await eventually('all are sent', async () =>
      (await stateCounts(ids)).sent === EMAILS ? true : undefined,
    );
    await service.stop();
    for (const id of ids) expect(copies(id)).toBe(1);
  });
});

test('a test email opens no connection outwards, whatever happens to it', async () => {
  let connections = 0;
  await using counting = await startSink({
    onConnect: (_session, done) => {
      connections++;
      done();
    },
  });
  await using own = await createTestDatabase();
  await using service = await startService({
    env: {
      DATABASE_URL: own.url,
      TRANSPORT: 'smtp',
      SMTP_URL: `smtp://127.0.0.1:${counting.port}?tls=none`,
      TEST_SENDS_PER_DAY: '0',
    },
  });
  const client = createClient(service.url, TEST_KEY);
  for (const name of [
    'delivered',
    'bounced',
    'bounced-transient',
    'complained',
    'opened',
    'deferred',
    'suppressed',
  ])
    await client.post('/v1/emails', {
      from: 'a@anything.example',
      to: `${name}@simulator.svc.test`,
      subject: 'Test',
      text: 'Test',
    });
  await eventually('all have ended', async () => {
    const { data } = (await client.get('/v1/emails')).body;
    const open = data.filter(({ status }: { status: string }) =>
      ['sending', 'queued', 'deferred'].includes(status),
    );
    return open.length === 0 ? true : undefined;
  });
  expect(connections).toBe(0);
});
