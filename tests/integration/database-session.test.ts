import { heapStats } from 'bun:jsc';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { DatabaseSession } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { probeServer } from '../../src/platform/db/server/servers.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const SERVICE_NAME = `select current_setting('application_name') as name`;
const DEADLINE_MS = 60_000;

let store: TestDatabase;
let database: PostgresDatabase;
let sql: postgres.Sql;
beforeAll(async () => {
  store = await createTestDatabase();
  database = await PostgresDatabase.open(store.url);
  sql = postgres(store.url, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await database.close();
  await sql.end();
  await store.close();
});

function opened(): DatabaseSession {
  const session = database.session();
  if (!session) throw new Error('A server has sessions.');
  return session;
}

test('a session that waits passes for no statement of the pools, so that a dead connection of theirs is found', async () => {
  const session = opened();
  const [own] = await session.query<{ pid: number }>('select pg_backend_pid() as pid', DEADLINE_MS);
  const [pools] = await database.query<{ name: string }>(SERVICE_NAME);
  const pid = own?.pid ?? 0;
  const waiting = session.query('select pg_sleep(600)', DEADLINE_MS).catch((error: unknown) => error);
  const active = await eventually('the session waits', async () => {
    const [row] = await sql<{ name: string }[]>`select application_name as name from pg_stat_activity
      where pid = ${pid} and state = 'active'`;
    return row;
  });
  expect(active.name).toMatch(/^posthorn session #/);
  const seen = await eventually('the probe sees the server', async () => {
    const found = await probeServer(store.url, pools?.name ?? '');
    return found.seen === 'answering' ? found : undefined;
  });
  expect(seen.atWork).not.toContain(pid);
  await session.close();
  expect(await waiting).toBeInstanceOf(UnavailableError);
  await sql`select pg_terminate_backend(${pid}, 10000)`;
});

test('a session that has ended opens no other connection', async () => {
  const session = opened();
  const [own] = await session.query<{ pid: number }>('select pg_backend_pid() as pid', DEADLINE_MS);
  await sql`select pg_terminate_backend(${own?.pid ?? 0}, 10000)`;
  await session.ended;
  const error = await session
    .query('create table made_by_another ()', DEADLINE_MS)
    .catch((cause: unknown) => cause);
  expect(error).toMatchObject({ message: 'A session of the database has ended.', applied: 'no' });
  await session.close();
  const [made] = await sql<{ at: string | null }[]>`select to_regclass('made_by_another') as at`;
  expect(made?.at).toBeNull();
});

test('a statement leaves nothing behind in its session', async () => {
  const session = opened();
  const ask = async (times: number) => {
    for (let n = 0; n < times; n++) await session.query('select 1', DEADLINE_MS);
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const before = await ask(500);
  // A listener that stays for each is three objects at least.
  expect((await ask(2_000)) - before).toBeLessThan(2_000);
  await session.close();
});
