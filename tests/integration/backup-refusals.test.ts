import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { dump } from '../../src/ops/backup/dump.ts';
import type { Part } from '../../src/ops/backup/parts.ts';
import { Progress } from '../../src/ops/backup/progress.ts';
import { restore } from '../../src/ops/backup/restore.ts';
import { writeBackup } from '../../src/ops/backup/write-file.ts';
import { openBulkSession } from '../../src/platform/db/bulk-session.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';

// Refusals of restores and moves on their way, which leave nothing behind.

let source: TestDatabase;
let home: string;
beforeAll(async () => {
  await bringPreparedDirectory();
  source = await createTestDatabase();
});
afterAll(() => source.close());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-refusals-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function* parts(): AsyncGenerator<Part> {
  const session = await openBulkSession({ url: source.url, dataDir: null }, 'read');
  try {
    yield* dump(session, null);
  } finally {
    await session.close();
  }
}

test('a passphrase for a backup that is readable is refused, wherever it is said', async () => {
  const file = join(home, 'backup');
  const passphrase = join(home, 'passphrase');
  await writeBackup(file, parts(), { passphrase: null });
  writeFileSync(passphrase, 'correct horse battery');
  const target = { DATA_DIR: join(home, 'target') };
  const refused = (how: string) => ({
    code: 1,
    error: expect.stringMatching(
      new RegExp(`^${file} is not encrypted, so the passphrase does not prove .+, ${how}\\.\n$`),
    ),
  });
  for (const flags of [[], ['--check'], ['--print-secret-key']]) {
    expect(await command(target, 'restore', ...flags, '--passphrase-file', passphrase, file)).toMatchObject(
      refused('leave out --passphrase-file'),
    );
    expect(
      await command({ ...target, BACKUP_PASSPHRASE: 'correct horse battery' }, 'restore', ...flags, file),
    ).toMatchObject(refused('unset BACKUP_PASSPHRASE'));
  }
  expect(existsSync(target.DATA_DIR)).toBeFalse();
  expect(await command(target, 'restore', '--check', file)).toMatchObject({ code: 0 });
});

test('a database that is not empty is reported before a different key', async () => {
  const file = join(home, 'backup');
  await using target = await createTestDatabase();
  const sql = postgres(target.url, { max: 1, onnotice: () => {} });
  await sql.unsafe('create table letters (id integer)');
  await sql.end();
  const withKey = async function* (): AsyncGenerator<Part> {
    for await (const part of parts())
      yield part.kind === 'header'
        ? { ...part, header: { ...part.header, secretKey: 'k'.repeat(44) } }
        : part;
  };
  await writeBackup(file, withKey(), { passphrase: null });
  const environment = {
    DATABASE_URL: target.url,
    DATA_DIR: join(home, 'target'),
    SECRET_KEY: 'x'.repeat(44),
  };
  const { code, error } = await command(environment, 'restore', file);
  expect([code, error]).toEqual([
    2,
    expect.stringContaining(
      'The database is not empty: it has letters. A backup is restored into an empty one.',
    ),
  ]);
  expect(error).not.toContain('SECRET_KEY');
});

test('a service that is started while its database is moved has the move refused, before it commits', async () => {
  const dataDir = join(home, 'target');
  const holder = postgres(source.url, { max: 2, onnotice: () => {} });
  const late = postgres(source.url, { max: 1, connection: { application_name: 'posthorn #late' } });
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and application_name = 'posthorn backup' and wait_event_type = 'Lock'`;
  let moved: ReturnType<typeof command> | undefined;
  await holder.begin(async (held) => {
    await held.unsafe('lock table contacts in access exclusive mode');
    moved = command({ DATABASE_URL: source.url, DATA_DIR: dataDir }, 'move', '--to', 'embedded');
    await eventually('the move waits for the table', async () => (await holder.unsafe(waiting))[0]);
    await late`select 1`;
  });
  expect(await moved).toMatchObject({
    code: 1,
    error: expect.stringContaining('A Posthorn serves from this database. Stop it first'),
  });
  expect(readdirSync(dataDir)).toEqual(['lock']);
  await Promise.all([late.end(), holder.end()]);
});

describe('a disk that fills up', () => {
  const MIB = 1_048_576;
  const isRoot = process.platform === 'linux' && process.geteuid?.() === 0;
  const canMount =
    isRoot && Bun.spawnSync(['unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).exitCode === 0;
  if (!canMount)
    console.warn('No file system can be mounted here: a restore onto a disk that fills up is not tried.');

  test.skipIf(!canMount)('ends a restore while 128 MiB are left, and nothing stays of it', async () => {
    expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', home]).exitCode).toBe(0);
    try {
      const dataDir = join(home, 'target');
      const restored = restore({ databaseUrl: null, dataDir }, parts(), {
        progress: new Progress('Restored', { error() {} }),
        warn() {},
        bodies: null,
        onHeader: async () => {
          const { bavail, bsize } = statfsSync(home);
          writeFileSync(join(home, 'others'), Buffer.alloc(bavail * bsize - 128 * MIB + 1));
          return () => {};
        },
      });
      await expect(restored).rejects.toThrow(
        `There is no room left on the disk of ${dataDir}: a restore keeps 128 MiB of it free.`,
      );
      expect(readdirSync(dataDir)).toEqual(['lock']);
    } finally {
      Bun.spawnSync(['umount', '-l', home]);
    }
  });
});
