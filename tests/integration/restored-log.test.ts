import { expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import postgres from 'postgres';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { diagnoseLog } from '../../src/ops/doctor/database/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { logAligner } from '../../src/sending/events/commands.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { EventFollower } from '../support/event-follower.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { serverUrl } from '../support/server.ts';

// A dump of the database, restored into another cluster: that one counts its transactions from elsewhere, and
// positions in the event log are transactions.

const EMAIL = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'Hello', text: 'Hi' };
/** The keys and cursors that were given out must go on to hold. */
const SECRET = { SECRET_KEY: 'only-for-tests-only-for-tests-only' };

/**
 * Everything in one database, put into another as a restored dump does it: the schema, then every row of
 * every table.
 */
async function restore(from: string, to: string): Promise<void> {
  const target = new PostgresDatabase(to);
  await migrate(target);
  await target.close();
  const source = postgres(from, { max: 1 });
  const restored = postgres(to, { max: 1, onnotice: () => {} });
  const tables = await source<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  await restored.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(`truncate ${tables.map(({ name }) => name).join()}`);
    for (const { name } of tables) {
      const rows = await source.unsafe(`select row_to_json(t)::text as row from ${name} t`);
      // A dump leaves out the columns that the database generates.
      const [{ columns }] = await source.unsafe<[{ columns: string }]>(
        `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
         where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      );
      await tx.unsafe(
        `insert into ${name} (${columns}) select ${columns} from unnest($1::text[]) j(row) cross join json_populate_record(null::${name}, j.row::json) r`,
        [rows.map(({ row }) => row) as never],
      );
    }
  });
  await Promise.all([source.end(), restored.end()]);
}

/** Lets a cluster count so many transactions. */
async function spend(url: string, transactions: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe('create table spent (n integer)').simple();
  await sql
    .unsafe(
      `do $$ begin for i in 1..${transactions} loop insert into spent values (i); commit; end loop; end $$`,
    )
    .simple();
  await sql.unsafe('drop table spent').simple();
  await sql.end();
}

async function send(service: RealService, key: string, emails: number): Promise<void> {
  for (let i = 0; i < emails; i++)
    expect((await service.ask({ method: 'POST', path: '/v1/emails', key, body: EMAIL })).status).toBe(202);
}

const audited = async (url: string) => {
  const session = await openSession({ url, dataDir: null });
  const findings = await auditLedger(session, Date.now());
  await session.close();
  return findings;
};

const diagnosed = async (url: string) => {
  const database = new PostgresDatabase(url);
  const { status, detail } = await diagnoseLog(database);
  await database.close();
  return { status, detail };
};

/**
 * Sends, restores into the target, sends again; a follower from before and a new one must see all of it once.
 */
async function moves(from: string, to: string): Promise<void> {
  const follower = new EventFollower();
  let key: string;
  {
    await using before = await startRealService({ ...SECRET, DATABASE_URL: from });
    key = await before.keyWith('test', ['*']);
    await send(before, key, 10);
    // Each is sent and delivered. The cursor is then behind both, at the end of what the old cluster has
    // seen.
    await follower.reach(before, key, 20);
    await spend(from, 50);
    await follower.catchUp(before, key);
    // Transactions of other tests on the server hold the log as well.
    await eventually('no lag', async () => {
      const { body } = await before.ask({ path: '/health' });
      return body.data.database.logLagSeconds < 5 || undefined;
    });
  }
  await restore(from, to);
  expect((await diagnosed(to)).status).toBe('wrong');
  await using after = await startRealService({ ...SECRET, DATABASE_URL: to });
  expect((await diagnosed(to)).status).toBe('fine');
  await send(after, key, 10);
  await follower.reach(after, key, 40);
  await follower.catchUp(after, key);
  const again = new EventFollower();
  await again.reach(after, key, 40);
  expect(follower.seen).toEqual(again.seen);
  expect(new Set(follower.seen).size).toBe(40);
  expect((await audited(to)).total).toBe(0);
}

/** A cluster that has seen fewer transactions, or more, than the one that the tests share. */
async function withCluster(work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await startCluster();
  try {
    await work(cluster);
  } finally {
    await cluster.stop();
  }
}

test('restored into a cluster that is younger, the log goes on where it was', () =>
  withCluster(async ({ url }) => {
    await spend(await serverUrl(), 5_000);
    await using made = await createTestDatabase();
    await moves(made.url, url);
  }));

test('restored into a cluster that is older, the log goes on where it was', () =>
  withCluster(async ({ url }) => {
    await using made = await createTestDatabase();
    await spend(await serverUrl(), 10_000);
    await moves(url, made.url);
  }));

test('the events of another cluster, copied in beside a log that is in use, are reported by audit and doctor, and moved past', () =>
  withCluster(async ({ url }) => {
    {
      await using first = await startRealService({ ...SECRET, DATABASE_URL: url });
      const key = await first.keyWith('test', ['*']);
      await send(first, key, 1);
      await new EventFollower().reach(first, key, 2);
      const sql = postgres(url, { max: 1 });
      await sql`update email_turns set position = position + 1000000000000`;
      await sql.end();
      expect((await audited(url)).wrongOf('positions')).toBe(1);
      expect((await diagnosed(url)).detail).toContain('readers would miss it');
    }
    await using again = await startRealService({ ...SECRET, DATABASE_URL: url });
    const key = await again.keyWith('test', ['*']);
    expect((await diagnosed(url)).status).toBe('fine');
    await send(again, key, 1);
    await new EventFollower().reach(again, key, 4);
    expect((await audited(url)).wrongOf('positions')).toBe(0);
  }));

test('two instances that start on a restored database at once move the log along once', () =>
  withCluster(async ({ url }) => {
    await using made = await createTestDatabase();
    {
      await using _ = await startRealService({ ...SECRET, DATABASE_URL: made.url });
    }
    await restore(made.url, url);
    const instances = await Promise.all(
      [1, 2, 3].map(() => startRealService({ ...SECRET, DATABASE_URL: url })),
    );
    const sql = postgres(url, { max: 1 });
    expect((await sql`select base from event_log`)[0]?.base).toBe(String(2n ** 44n));
    await sql.end();
    await Promise.all(instances.map((instance) => instance[Symbol.asyncDispose]()));
  }));

/** The duty of an instance that runs all the while, and what it has warned of. */
function runningInstance(url: string) {
  const database = new PostgresDatabase(url);
  const warnings: unknown[] = [];
  const { run } = logAligner({ database, logger: { warn: (said: unknown) => void warnings.push(said) } });
  return { warnings, run, [Symbol.asyncDispose]: () => database.close() };
}

test('set back to a snapshot under a running instance: cursors beyond the end are 422, and hold once it has noticed', () =>
  withCluster(async (cluster) => {
    const { url, data } = cluster;
    const snapshot = `${data}-snapshot`;
    const follower = new EventFollower();
    let key: string;
    await using running = runningInstance(url);
    {
      await using service = await startRealService({ ...SECRET, DATABASE_URL: url });
      key = await service.keyWith('test', ['*']);
      await send(service, key, 3);
      await follower.reach(service, key, 6);
    }
    await cluster.down();
    execFileSync('cp', ['-a', data, snapshot]);
    await cluster.up();
    {
      await using service = await startRealService({ ...SECRET, DATABASE_URL: url });
      await spend(url, 2_000);
      await send(service, key, 3);
      await follower.reach(service, key, 12);
      await running.run();
    }
    await cluster.down();
    rmSync(data, { recursive: true });
    execFileSync('mv', [snapshot, data]);
    await cluster.up();
    await using service = await startRealService({ ...SECRET, DATABASE_URL: url });
    await send(service, key, 1);
    const { status, body } = await follower.ask(service, key);
    expect([status, body.error.details[0].path]).toEqual([422, '/query/after']);
    expect(body.error.details[0].message).toContain('beyond the end of the log');

    expect(running.warnings).toEqual([]);
    await running.run();
    expect(running.warnings).toHaveLength(1);
    await running.run();
    expect(running.warnings).toHaveLength(1);
    await send(service, key, 3);
    // Three emails of two events each were lost with the snapshot, two events were written before it was
    // noticed.
    await follower.reach(service, key, 12 + 6);
    const again = new EventFollower();
    await again.reach(service, key, 6 + 2 + 6);
    expect(follower.seen.slice(-6)).toEqual(again.seen.slice(-6));
  }));

test('another server that takes over under running instances moves the log along once', async () => {
  await using made = await createTestDatabase();
  const sql = postgres(made.url, { max: 1 });
  await using first = runningInstance(made.url);
  await using second = runningInstance(made.url);
  await sql`update event_log set cluster = '7/00000001'`;
  await Promise.all([first.run(), second.run()]);
  await Promise.all([first.run(), second.run()]);
  expect((await sql`select base from event_log`)[0]?.base).toBe(String(2n ** 44n));
  expect((await sql`select cluster from event_log`)[0]?.cluster).not.toBe('7/00000001');
  await sql.end();
});

test('a transaction held open in another database holds the log: health and doctor say for how long', async () => {
  await using made = await createTestDatabase();
  await using other = await createTestDatabase();
  await using service = await startRealService({ ...SECRET, DATABASE_URL: made.url });
  const key = await service.keyWith('test', ['*']);
  const lag = async (): Promise<number> =>
    (await service.ask({ path: '/health' })).body.data.database.logLagSeconds;
  const sql = postgres(other.url, { max: 1, onnotice: () => {} });
  await sql.begin(async (tx) => {
    await tx`create table held (n integer)`;
    await eventually('a lag', async () => ((await lag()) > 0.3 ? true : undefined));
    await send(service, key, 1);
    const { body } = await service.ask({ path: '/v1/events', key });
    expect(body.data).toEqual([]);
    const database = new PostgresDatabase(made.url);
    const late = await diagnoseLog(database, 0.1);
    expect([late.status, late.detail]).toEqual(['wrong', expect.stringContaining('has been open for')]);
    await database.close();
  });
  await sql.end();
  await eventually('no lag', async () => ((await lag()) < 0.3 ? true : undefined));
  await new EventFollower().reach(service, key, 2);
});
