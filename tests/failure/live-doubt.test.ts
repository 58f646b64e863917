import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';
import { timersPassed } from '../support/stored-email.ts';

// In doubt is what a session was opened for, and nothing else: neither what waits for a session, however
// long, nor what has one promised. The relay's pool has twenty sessions, a process has 64 slots and a line of
// 256, and what is new waits without its message.
const SESSIONS = 20;
const EMAILS = 360;
/** More than the slots, which is enough where the line is not what is shown. */
const FEWER = 120;

/** One with a verified domain, of which every test has a copy. */
let prepared: TestDatabase;
let database: TestDatabase;
let sql: postgres.Sql;
let sink: Sink;
let dataDir: string;
let asked = 0;
/** Ids of emails in the order in which a session was used for them, and in which their messages had come. */
let opened: string[];
let received: string[];
/** The answers to the messages that have come; null once they are answered at once. */
let held: (() => void)[] | null;

beforeAll(async () => {
  sink = await startSink({
    onMailFrom({ address }, _session, done) {
      opened.push(`em_${/^b\+([^.]+)\./.exec(address)?.[1]}`);
      done();
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push(/^Message-ID: <(em_\w+)@/m.exec(Buffer.concat(chunks).toString())?.[1] ?? '');
        if (held) held.push(done);
        else done();
      });
    },
  });
  prepared = await createTestDatabase();
  database = prepared;
  dataDir = mkdtempSync(join(tmpdir(), 'posthorn-doubt-'));
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await start('retry', 'capture');
  const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  expect(added.body.data.status).toBe('verified');
  await first.stop();
});
afterAll(async () => {
  await sink[Symbol.asyncDispose]();
  await prepared.close();
  rmSync(dataDir, { recursive: true, force: true });
});

beforeEach(async () => {
  [opened, received, held] = [[], [], []];
  database = await createTestDatabase(prepared);
  sql = postgres(database.url, { max: 1 });
});
afterEach(async () => {
  release();
  await sql.end();
  await database.close();
});

const start = (policy: 'retry' | 'hold', transport = 'smtp'): Promise<Service> =>
  startService({
    dataDir,
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      TRANSPORT: transport,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
      UNKNOWN_OUTCOME: policy,
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });

/** Answers whatever waits for an answer, and from now on at once. */
function release(): void {
  for (const answer of held?.splice(0) ?? []) answer();
  held = null;
}

/** Sends so many, fifty at a time; what a busy machine has no time for is asked for again under its key. */
async function send(service: Service, count: number): Promise<readonly string[]> {
  const client = createClient(service.url, LIVE_KEY);
  const ids: string[] = [];
  const sendOne = async (n: number): Promise<void> => {
    const email = {
      from: 'shop@sender.example',
      to: `r${n}@example.com`,
      subject: `Order ${n}`,
      text: 'It is on its way.',
    };
    const headers = { 'idempotency-key': `order-${asked++}` };
    const id = await eventually(`email ${n} is accepted`, async () => {
      const { status, body } = await client.post('/v1/emails', email, headers);
      return status === 202 ? (body.data.id as string) : undefined;
    });
    ids.push(id);
  };
  for (let from = 0; from < count; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, n) => sendOne(from + n)));
  return ids;
}

const allSessionsHang = (): Promise<true> =>
  eventually('every session waits for a reply', async () => held?.length === SESSIONS || undefined);

interface Row {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly doubtful: boolean;
}

const rows = async (): Promise<readonly Row[]> => [
  ...(await sql<Row[]>`
    select id, state, (context->>'attempt')::integer as attempt,
      (context->'recipients'->0->>'inDoubt')::boolean as doubtful from emails_now order by id`),
];

const idsOf = async (is: (row: Row) => boolean): Promise<readonly string[]> =>
  (await rows()).filter(is).map(({ id }) => id);

const isSending = ({ state }: Row): boolean => state === 'sending';
const isDoubtful = ({ doubtful }: Row): boolean => doubtful;
const isSent = ({ state }: Row): boolean => state === 'sent';

const sentAre = (count: number): Promise<true> =>
  eventually(`${count} are sent`, async () => (await idsOf(isSent)).length === count || undefined);

/** Lets the leases of all attempts under way end: twelve minutes later. */
const passLeases = async () => {
  for (const text of timersPassed(`'sending'`)) await sql.unsafe(text);
};

function copies(): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const id of received) sum[id] = (sum[id] ?? 0) + 1;
  return sum;
}

/** The number of copies that should have come of each: twice where a doubt was tried again. */
const expectCopies = (ids: readonly string[], twice: readonly string[]): void =>
  expect(copies()).toEqual(Object.fromEntries(ids.map((id) => [id, twice.includes(id) ? 2 : 1])));

test('killed with 360 waiting, doubts held: in doubt are those with a session, all others are sent once', async () => {
  const killed = await start('hold');
  const ids = await send(killed, EMAILS);
  await allSessionsHang();
  const open = opened.toSorted();
  expect(await idsOf(isSending)).toEqual(open);
  await killed.kill();
  release();

  await using service = await start('hold');
  // No lease has ended: what was not begun need not wait for one.
  await sentAre(EMAILS - SESSIONS);
  expect(await idsOf(isSending)).toEqual(open);
  expect(await idsOf(isDoubtful)).toEqual([]);
  await passLeases();
  const doubtful = await eventually('the doubts are known', async () => {
    const found = await idsOf(isDoubtful);
    return found.length === SESSIONS ? found : undefined;
  });
  expect(doubtful).toEqual(open);
  expectCopies(ids, []);
  await service.stop();
});

test('killed with 120 waiting, doubts tried again: those without a session go out at once and unmarked', async () => {
  const killed = await start('retry');
  const ids = await send(killed, FEWER);
  await allSessionsHang();
  const open = opened.toSorted();
  await killed.kill();
  release();

  await using service = await start('retry');
  await sentAre(FEWER - SESSIONS);
  const [marked] = await sql`
    select count(*)::integer as n from emails_now e
    where state = 'sent' and ((context->>'attempt')::integer <> 1 or exists (
      select from email_journal j cross join lateral json_array_elements(j.steps) s
      where j.actor_id = e.id and s->>'event' = 'after.lease'))`;
  expect(marked?.n).toBe(0);
  expect(await idsOf(isSending)).toEqual(open);
  await passLeases();
  await sentAre(FEWER);
  expectCopies(ids, open);
  await service.stop();
});

test('another instance goes on with what a killed one held, and doubts what had a session there', async () => {
  const killed = await start('hold');
  const ids = await send(killed, FEWER);
  await allSessionsHang();
  const open = opened.toSorted();
  held = null;
  await using other = await start('hold');
  // The sessions of the one hang; the other has separate sessions, and takes what no instance has begun.
  await sentAre(FEWER - SESSIONS);
  await killed.kill();
  expect(await idsOf(isSending)).toEqual(open);
  await passLeases();
  await eventually(
    'the doubts are known',
    async () => (await idsOf(isDoubtful)).length === SESSIONS || undefined,
  );
  expect(await idsOf(isDoubtful)).toEqual(open);
  expectCopies(ids, []);
  await other.stop();
});

test('stopped past its leases and woken, doubts held: the replies that waited in its sockets end every doubt', async () => {
  await using frozen = await start('hold');
  const ids = await send(frozen, SESSIONS);
  await allSessionsHang();
  const late = held?.splice(0) ?? [];
  process.kill(frozen.pid, 'SIGSTOP');
  await using other = await start('hold');
  await passLeases();
  await eventually(
    'all are in doubt',
    async () => (await idsOf(isDoubtful)).length === SESSIONS || undefined,
  );
  for (const answer of late) answer();
  process.kill(frozen.pid, 'SIGCONT');
  await sentAre(SESSIONS);
  expect(await idsOf(isDoubtful)).toEqual([]);
  expectCopies(ids, []);
  const sentEvents = await sql`select email_id from email_events where type = 'sent'`;
  expect(sentEvents).toHaveLength(SESSIONS);
  await other.stop();
});

test('stopped past its leases and woken: its orders are begun once, its late outcomes are refused', async () => {
  await using frozen = await start('retry');
  const ids = await send(frozen, FEWER);
  await allSessionsHang();
  const open = opened.toSorted();
  const late = held?.splice(0) ?? [];
  process.kill(frozen.pid, 'SIGSTOP');
  held = null;
  await using other = await start('retry');
  await sentAre(FEWER - SESSIONS);
  await passLeases();
  await sentAre(FEWER);
  for (const answer of late) answer();
  process.kill(frozen.pid, 'SIGCONT');
  // It has seen every reply, and every order in its memory is another instance's by now, once it can send
  // something new.
  const more = await send(frozen, 20);
  await sentAre(FEWER + 20);
  expect(await frozen.stop()).toBe(0);
  expectCopies([...ids, ...more], open);
  const sentEvents = await sql`select email_id from email_events where type = 'sent'`;
  expect(sentEvents).toHaveLength(FEWER + 20);
  await other.stop();
});
