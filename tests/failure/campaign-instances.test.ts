import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { openDatabase } from '../../src/platform/db/open.ts';
import { MOST_LEFT } from '../../src/sending/emails/bulk/bulk-room.ts';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

// A campaign that one instance gives out and two send, each of which greets the mail server by a different
// name.

/**
 * More than may be given out while nothing leaves: one instance may leave so many to the other, and keeps
 * less itself.
 */
const RECIPIENTS = 1.5 * MOST_LEFT;
const SUBJECT = 'Your new password';

let sink: Sink;
let database: TestDatabase;
let sql: postgres.Sql;
/** Opened when the messages of the campaign may end. */
const gate = Promise.withResolvers<void>();
const stack = new AsyncDisposableStack();

const environment = (transport: string): Record<string, string> => ({
  DATABASE_URL: database.url,
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
  TRANSPORT: transport,
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
  SENDING_SLOTS: '8',
  DEFAULT_PLAN: 'unlimited',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  LOG_LEVEL: 'warn',
});

const start = async (name: string): Promise<Service> =>
  stack.use(await startService({ env: { ...environment('smtp'), EHLO_NAME: `${name}.example` } }));

beforeAll(async () => {
  database = stack.use(await createTestDatabase());
  sql = postgres(database.url, { max: 1 });
  stack.defer(() => sql.end());
  const received: Sink['received'] = [];
  const made = await startSink({
    // A session of the campaign is held until the gate opens.
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        const keep = () => {
          const { mailFrom, rcptTo } = session.envelope;
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            raw,
            secure: false,
            user: null,
            ehlo: session.hostNameAppearsAs,
          });
          done();
        };
        if (raw.includes(SUBJECT)) keep();
        else void gate.promise.then(keep);
      });
    },
  });
  sink = stack.use({ ...made, received });
  await using first = await startService({ env: environment('capture') });
  await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  await first.stop();
});
afterAll(async () => {
  gate.resolve();
  await stack.disposeAsync();
});

test('a campaign is given out as far as it may leave soon, keeps no password back, and is sent by all instances', async () => {
  const services = [await start('one'), await start('two')];
  const client = createClient(services[0]?.url ?? '', LIVE_KEY);
  await eventually('the first knows of the second', async () => {
    const told = (await (await fetch(`${services[0]?.url}/health`)).json()) as {
      data: { instances: { delivery: number } };
    };
    return told.data.instances.delivery === 2 || undefined;
  });
  const opened = await openDatabase({ url: database.url, dataDir: '' });
  stack.defer(() => opened.close());
  const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
  const audienceId = await manyPeople(opened, workspace?.id ?? '', RECIPIENTS);
  const said = { from: 'news@sender.example', subject: 'News', html: '<p>Hello</p>' };
  const made = await client.post('/v1/campaigns', { name: 'News', audienceId, ...said });
  expect((await client.post(`/v1/campaigns/${made.body.data.id}/send`, {})).status).toBe(200);
  const stats = async () => (await client.get(`/v1/campaigns/${made.body.data.id}/stats`)).body.data;

  // Accepted emails have taken their units of the quota, so the rest is kept back.
  await eventually('the line is full', async () => (await stats()).sent > MOST_LEFT / 2 || undefined);
  const asked = { from: 'shop@sender.example', to: 'ada@example.com', subject: SUBJECT, text: 'Here.' };
  expect((await client.post('/v1/emails', asked)).status).toBe(202);
  // No message of the campaign can end before it.
  await eventually('the password has left', async () => sink.received.length > 0 || undefined);
  expect(sink.received[0]?.to).toEqual(['ada@example.com']);
  expect((await stats()).sent).toBeLessThan(RECIPIENTS);

  gate.resolve();
  await eventually('everybody has theirs', async () => sink.received.length >= RECIPIENTS + 1 || undefined, {
    withinMs: 150_000,
  });
  expect(sink.received).toHaveLength(RECIPIENTS + 1);
  expect(new Set(sink.received.flatMap(({ to }) => to)).size).toBe(RECIPIENTS + 1);
  const sentBy = (name: string) => sink.received.filter(({ ehlo }) => ehlo === `${name}.example`).length;
  for (const name of ['one', 'two']) expect(sentBy(name)).toBeGreaterThan(RECIPIENTS / 10);
  const { total, sent, remaining } = await stats();
  expect({ total, sent, remaining }).toEqual({ total: RECIPIENTS, sent: RECIPIENTS, remaining: 0 });
});
