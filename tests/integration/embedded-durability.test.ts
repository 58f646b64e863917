import { afterEach, beforeEach, expect, test } from 'bun:test';
import { fsyncSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { ensureDataDirectory } from '../../src/db/data-directory.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SYNCED_START, SyncedFiles } from '../../src/db/synced-files.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-embedded-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the embedded database is opened with fsync, by the call that is real', async () => {
  const database = await openDatabase({ url: null, dataDir: home });
  const rows = await database.query(
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'wal_sync_method') order by 1`,
  );
  await database.close();
  expect(rows).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
    { name: 'wal_sync_method', setting: 'fsync' },
  ]);
});

test('every commit has reached the disk before it is answered', async () => {
  const directory = join(home, 'postgres');
  await ensureDataDirectory(directory);
  let synced = 0;
  const files = new SyncedFiles(directory, (descriptor) => {
    fsyncSync(descriptor);
    synced++;
  });
  const engine = await PGlite.create({ fs: files, startParams: [...SYNCED_START] });
  await engine.exec('create table kept (n integer)');
  for (let n = 0; n < 20; n++) {
    const before = synced;
    await engine.query('insert into kept values ($1)', [n]);
    expect(synced).toBeGreaterThan(before);
  }
  await engine.close();
});

test('a first start that was cut off leaves nothing that a second one takes for a database', async () => {
  const directory = join(home, 'postgres');
  // What is left when the process dies between making the files and naming them.
  await Bun.write(`${directory}.new/PG_VERSION`, '18');
  await ensureDataDirectory(directory);
  expect(readdirSync(home)).toEqual(['postgres']);
  const engine = await PGlite.create(directory);
  expect((await engine.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await engine.close();
});
