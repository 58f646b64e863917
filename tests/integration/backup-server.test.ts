import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { dump } from '../../src/ops/backup/dump.ts';
import { load } from '../../src/ops/backup/load.ts';
import type { Part } from '../../src/ops/backup/parts.ts';
import { Progress } from '../../src/ops/backup/progress.ts';
import { BackupRefused } from '../../src/ops/backup/refused.ts';
import { restore } from '../../src/ops/backup/restore.ts';
import { type BulkSession, openBulkSession } from '../../src/platform/db/bulk-session.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';

// Backups of a database on a server, on which others work as well.

const WAITING = `select 1 from pg_stat_activity
  where datname = current_database() and application_name = 'posthorn backup' and wait_event_type = 'Lock'`;

async function dumped(session: BulkSession): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for await (const part of dump(session, null)) parts.push(part);
  return parts;
}

async function* partsOf(url: string): AsyncGenerator<Part> {
  const session = await openBulkSession({ url, dataDir: null }, 'read');
  try {
    yield* dump(session, null);
  } finally {
    await session.close();
  }
}

test('a table that a migration rewrites while a backup begins has all its rows in it', async () => {
  await using database = await createTestDatabase();
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  await sql.unsafe('create table things (n integer); insert into things select generate_series(1, 3)');
  const session = await openBulkSession({ url: database.url, dataDir: null }, 'read');
  let parts: Promise<readonly Part[]> | undefined;
  await sql.begin(async (migration) => {
    await migration.unsafe('alter table things alter n type bigint');
    parts = dumped(session);
    await eventually('the backup waits for the migration', async () => (await sql.unsafe(WAITING))[0]);
  });
  expect((await parts)?.at(-1)).toMatchObject({ kind: 'trailer', trailer: { rows: { things: 3 } } });
  await session.close();
  await sql.end();
});

test.each(['read', 'write'] as const)(
  'no deadline of the server ends a session that may %s for hours',
  async (purpose) => {
    await using database = await createTestDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    for (const setting of [
      "statement_timeout = '9s'",
      "idle_in_transaction_session_timeout = '9s'",
      'jit = on',
    ])
      await sql.unsafe(`alter database ${database.name} set ${setting}`);
    await sql.end();
    const session = await openBulkSession({ url: database.url, dataDir: null }, purpose);
    const shown = await session.query(
      `select name, setting from pg_settings
     where name in ('jit', 'statement_timeout', 'idle_in_transaction_session_timeout') order by name`,
    );
    await session.close();
    expect(shown).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '0' },
      { name: 'jit', setting: 'off' },
      { name: 'statement_timeout', setting: '0' },
    ]);
  },
);

test('a migrated database takes a backup, unless it has a foreign table', async () => {
  await using source = await createTestDatabase();
  await using target = await createTestDatabase();
  const sql = postgres(target.url, { max: 1, onnotice: () => {} });
  const loaded = async (): Promise<unknown> => {
    const session = await openBulkSession({ url: target.url, dataDir: null }, 'write');
    try {
      return await load(session, partsOf(source.url), { isOurs: false, warn() {} });
    } finally {
      await session.close();
    }
  };
  await sql.unsafe('create table somebodys (n integer); insert into somebodys values (1)');
  const refusal = await loaded().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(BackupRefused);
  expect(String(refusal)).toContain('The database is not empty: it has somebodys.');
  expect(await sql`select n from somebodys`).toHaveLength(1);
  await sql`drop table somebodys`;
  expect(await loaded()).toMatchObject({ rows: { event_log: 1, workspaces: 0 } });
  await sql.end();
});

test('a server that does not tell its identity takes a backup', async () => {
  await using source = await createTestDatabase();
  await using target = await createTestDatabase();
  const sql = postgres(target.url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`alter database ${target.name} set search_path = public, pg_catalog;
    create function public.pg_control_system(out system_identifier bigint) language plpgsql as $$
    begin raise insufficient_privilege; end $$`);
  const session = await openBulkSession({ url: target.url, dataDir: null }, 'write');
  expect(await load(session, partsOf(source.url), { isOurs: false, warn() {} })).toMatchObject({
    rows: { event_log: 1 },
  });
  await session.close();
  expect(await sql`select cluster, base > 0 as is_behind from event_log`).toEqual([
    { cluster: null, is_behind: true },
  ] as never);
  await sql.end();
});

test('what was committed keeps its key, also when it cannot be audited', async () => {
  await using source = await createTestDatabase();
  await using target = await createTestDatabase();
  const session = await openBulkSession({ url: source.url, dataDir: null }, 'read');
  const sql = postgres(target.url, { max: 1, onnotice: () => {} });
  async function* breaking(): AsyncGenerator<Part> {
    try {
      yield* dump(session, null);
    } finally {
      // Everything is committed when no more is asked for.
      await sql`drop table emails cascade`;
    }
  }
  let isTakenBack = false;
  const restored = restore({ databaseUrl: target.url, dataDir: '/nonexistent' }, breaking(), {
    progress: new Progress('Restored', { error() {} }),
    warn() {},
    bodies: null,
    onHeader: async () => () => {
      isTakenBack = true;
    },
  });
  await expect(restored).rejects.toThrow('emails');
  expect(isTakenBack).toBeFalse();
  await session.close();
  await sql.end();
});
