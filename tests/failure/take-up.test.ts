import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { LIVE_KEY, printed, type Service, startService } from '../support/service.ts';

const EMAILS = 12;
/**
 * An instance holds an email for seconds; the tests have it be longer, so that only a take-up can come before
 * the end of it.
 */
const HELD = '50 seconds';

/** A separate server, which a test restarts. */
let cluster: Cluster;
let sql: postgres.Sql;
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-take-up-'));

/** The ids of the messages that any server has got, each as often as it has. */
let received: string[] = [];
/**
 * The server of the instance under test: it answers nothing before its gate is open, so that one slot keeps
 * all mail waiting.
 */
let slow: Sink;
let gate = Promise.withResolvers<void>();
/** The messages that have come to the gate since it was shut. */
let atGate = 0;
let quick: Sink;

const shutGate = (): void => {
  gate = Promise.withResolvers();
  atGate = 0;
};

const sinkBehind = (open: () => Promise<void>): Promise<Sink> =>
  startSink({
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        void open().then(() => {
          received.push(/^Message-ID: <(em_\w+)@/m.exec(Buffer.concat(chunks).toString())?.[1] ?? '');
          done();
        });
      });
    },
  });

beforeAll(async () => {
  cluster = await startCluster();
  sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
  slow = await sinkBehind(() => {
    atGate++;
    return gate.promise;
  });
  quick = await sinkBehind(async () => {});
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await start('capture', quick, 8);
  const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  expect(added.body.data.status).toBe('verified');
  await first.stop();
});
afterAll(async () => {
  gate.resolve();
  await slow[Symbol.asyncDispose]();
  await quick[Symbol.asyncDispose]();
  await sql.end();
  await cluster.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = (transport: string, sink: Sink, slots: number): Promise<Service> =>
  startService({
    dataDir,
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      TRANSPORT: transport,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
      SENDING_SLOTS: String(slots),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });

interface Pair extends AsyncDisposable {
  /** The instance that accepts, and has one slot in front of a server that does not answer. */
  readonly first: Service;
  readonly other: Service;
  /** The epoch of the first one. */
  epoch(): Promise<number | null>;
}

/** Two instances, each of which knows of the other and has an epoch. */
async function startPair({ sink = quick, slots = 8 } = {}): Promise<Pair> {
  received = [];
  shutGate();
  await sql`delete from service_instances`;
  const first = await start('smtp', slow, 1);
  const [known] = await sql<{ id: string }[]>`select id from service_instances`;
  const epoch = async (): Promise<number | null> =>
    (await sql`select epoch from service_instances where id = ${known?.id ?? ''}`)[0]?.epoch ?? null;
  const other = await start('smtp', sink, slots);
  await eventually('both have an epoch', async () => {
    const [row] = await sql`select count(*)::integer as n from service_instances where epoch is not null`;
    return row?.n === 2 || undefined;
  });
  return {
    first,
    other,
    epoch,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await first[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

async function post(service: Service, count: number): Promise<readonly string[]> {
  const client = insisting(createClient(service.url, LIVE_KEY));
  const replies = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      client.post('/v1/emails', {
        from: 'shop@sender.example',
        to: `r${n}@example.com`,
        subject: `Order ${n}`,
        text: 'It is on its way.',
      }),
    ),
  );
  for (const { status, body } of replies) expect([status, body]).toEqual([202, body]);
  return replies.map(({ body }) => body.data.id);
}

interface Held {
  readonly id: string;
  readonly until: Date;
}

/**
 * Emails that the first instance has accepted and waits to begin, and holds for longer than any other would
 * wait.
 */
async function hold({ first, epoch }: Pair): Promise<readonly Held[]> {
  return await eventually('emails that the instance holds', async () => {
    await post(first, EMAILS);
    // Its one slot is taken from then on, so that no attempt begins of what is held. The server tells it and
    // not the state of an email: the other instance carries some out as well, and one that begins just after
    // would then be counted as held.
    await eventually('the one attempt is at the gate', () => atGate > 0 || undefined);
    const held = await sql<Held[]>`update email_due set wake_at = clock_timestamp() + ${HELD}::interval
      where held_by = ${(await epoch()) ?? 0} and state = 'queued' returning id, wake_at as until`;
    return held.length > 1 ? held : undefined;
  });
}

const allSent = (held: readonly Held[]): Promise<true> =>
  eventually('all are sent', async () => {
    const [row] = await sql`select count(*)::integer as n from emails_now
      where state = 'sent' and id = any(${held.map(({ id }) => id)})`;
    return row?.n === held.length || undefined;
  });

/** When the first attempt of each began, by the database's clock. */
const begunAt = async (held: readonly Held[]): Promise<ReadonlyMap<string, Date>> => {
  const rows = await sql<{ id: string; at: Date }[]>`select email_id as id, min(at) as at from email_turns
    where state = 'sending' and email_id = any(${held.map(({ id }) => id)}) group by email_id`;
  return new Map(rows.map(({ id, at }) => [id, at]));
};

const copies = (id: string): number => received.filter((one) => one === id).length;

/** Ends the session that shows an instance to the others, as a proxy or an administrator would. */
const cutSession = async (epoch: number | null): Promise<void> => {
  const cut = await sql`select pg_terminate_backend(pid, 10000) from pg_locks
    where locktype = 'advisory' and mode = 'ExclusiveLock' and granted and objid::bigint = ${epoch ?? 0}`;
  expect(cut).toHaveLength(1);
};

/** The statements that watch at the moment. */
const watching = () => sql<
  { pid: number; began: string }[]
>`select pid, query_start::text as began from pg_stat_activity
  where query like 'do $$ begin%pg_advisory_xact_lock_shared%' and state = 'active' and datname = current_database()`;

test('what a killed instance had accepted and not begun is taken up long before its hold ends', async () => {
  await using pair = await startPair();
  const before = await hold(pair);
  const underWay = await eventually('the attempt that the one slot has', async () => {
    const [row] = await sql<{ id: string; wake_at: Date }[]>`
      select id, wake_at from email_due where state = 'sending'`;
    return row;
  });
  // It may have begun only now.
  const held = before.filter(({ id }) => id !== underWay.id);
  await pair.first.kill();
  await allSent(held);
  const begun = await begunAt(held);
  for (const { id, until } of held) {
    expect(begun.get(id)?.getTime()).toBeLessThan(until.getTime());
    expect(copies(id)).toBe(1);
  }
  await printed(pair.other, /The session of an instance has ended/);
  // An attempt that had begun may have sent: it waits for its lease, as before.
  const [still] = await sql`select e.state, d.wake_at from emails_now e join email_due d on d.id = e.id
    where e.id = ${underWay.id}`;
  expect(still).toEqual({ state: 'sending', wake_at: underWay.wake_at });
});

test('a suspended instance keeps its session, and others take up nothing sooner', async () => {
  await using pair = await startPair();
  const held = await hold(pair);
  const epoch = await pair.epoch();
  process.kill(pair.first.pid, 'SIGSTOP');
  try {
    // Each of these statements waits for the session of the first one.
    const seen = new Set<string>();
    await eventually('the other instance has looked again and again', async () => {
      for (const { began } of await watching()) seen.add(began);
      return seen.size > 1 || undefined;
    });
    const rows = await sql<Held[]>`select id, wake_at as until from email_due where held_by = ${epoch ?? 0}`;
    expect(new Map(rows.map((row) => [row.id, row]))).toEqual(new Map(held.map((row) => [row.id, row])));
    expect(await pair.epoch()).toBe(epoch);
  } finally {
    process.kill(pair.first.pid, 'SIGCONT');
  }
  gate.resolve();
  await allSent(held);
  for (const { id } of held) expect(copies(id)).toBe(1);
});

test('an instance whose session is cut while it stands still sends nothing of what another has taken', async () => {
  await using pair = await startPair();
  const held = await hold(pair);
  const epoch = await pair.epoch();
  process.kill(pair.first.pid, 'SIGSTOP');
  try {
    await cutSession(epoch);
    await allSent(held);
  } finally {
    process.kill(pair.first.pid, 'SIGCONT');
  }
  // It still has all of them in memory, and a slot for each in turn.
  gate.resolve();
  const renewed = await eventually('another epoch', async () => {
    const now = await pair.epoch();
    return now !== null && now !== epoch ? now : undefined;
  });
  // Its slot is free for what it accepts now: it has been through all that waited before.
  const later = await post(pair.first, 1);
  await allSent(later.map((id) => ({ id, until: new Date() })));
  for (const { id } of held) expect(copies(id)).toBe(1);
  // By the new epoch it can be taken up from as before.
  shutGate();
  const again = await hold(pair);
  expect(await pair.epoch()).toBe(renewed);
  await pair.first.kill();
  await allSent(again);
});

test('sessions that are cut again and again under load lose and double nothing', async () => {
  await using pair = await startPair();
  gate.resolve();
  const ids: string[] = [];
  for (let round = 0; round < 4; round++) {
    const epoch = await pair.epoch();
    const posted = Promise.all([post(pair.first, EMAILS), post(pair.other, EMAILS)]);
    await cutSession(epoch);
    ids.push(...(await posted).flat());
    await eventually('another epoch', async () => {
      const now = await pair.epoch();
      return (now !== null && now !== epoch) || undefined;
    });
  }
  await allSent(ids.map((id) => ({ id, until: new Date() })));
  for (const id of ids) expect(copies(id)).toBe(1);
});

test('after a restart of PostgreSQL two instances that hold mail lose and double nothing, and settle on one epoch each', async () => {
  await using pair = await startPair({ sink: slow, slots: 1 });
  const epochs = async () =>
    (
      await sql<{ id: string; epoch: number | null }[]>`
    select id, epoch from service_instances order by id`
    ).map(({ epoch }) => epoch);
  const before = await epochs();
  const ids: string[] = [];
  await eventually('both hold mail', async () => {
    // A hold lasts for seconds: on a busy machine that of the first instance ends while the other one
    // accepts.
    ids.push(...(await Promise.all([post(pair.first, EMAILS), post(pair.other, EMAILS)])).flat());
    const rows = await sql`select distinct held_by from email_due where held_by = any(${before})`;
    return rows.length === 2 || undefined;
  });
  await cluster.strike();
  await cluster.up();
  const settled = await eventually('both have watched for a while under the same epochs', async () => {
    const now = await epochs();
    if (now.some((epoch) => epoch === null || before.includes(epoch))) return;
    const seen = new Set<string>();
    await eventually('statements that watch', async () => {
      for (const { pid, began } of await watching()) seen.add(`${pid} ${began}`);
      return seen.size > 3 || undefined;
    });
    return Bun.deepEquals(await epochs(), now) ? now : undefined;
  });
  expect(settled).toHaveLength(2);
  gate.resolve();
  await allSent(ids.map((id) => ({ id, until: new Date() })));
  for (const id of ids) expect(copies(id)).toBe(1);
  // The one that is back first may take up once what the other holds, where that one takes long.
  const takeUps = `${pair.first.output()}${pair.other.output()}`.split(
    'The session of an instance has ended',
  );
  expect(takeUps.length - 1).toBeLessThan(3);
});
