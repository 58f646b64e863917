import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import fs, {
  cpSync,
  fstatSync,
  fsyncSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { Page } from '../../src/http/request/route.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { ensureDataDirectory } from '../../src/platform/db/embedded/data-directory.ts';
import { DiskRoom } from '../../src/platform/db/embedded/disk-room.ts';
import { EngineEnded, GuardedEngine } from '../../src/platform/db/embedded/guarded-engine.ts';
import { SYNCED_START, SyncedFiles } from '../../src/platform/db/embedded/synced-files.ts';
import { TellingEngine } from '../../src/platform/db/embedded/telling-engine.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { readLog } from '../../src/sending/events/queries.ts';
import { layEmbedded } from '../support/embedded.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-embedded-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the embedded database is opened with fsync, by the call that is real', async () => {
  await layEmbedded(home);
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
  await layEmbedded(home);
  let synced = 0;
  const files = new SyncedFiles(directory, (descriptor) => {
    fsyncSync(descriptor);
    synced++;
  });
  const engine = await PGlite.create({ fs: files, startParams: [...SYNCED_START] });
  files.started();
  await engine.exec('create table kept (n integer)');
  for (let n = 0; n < 20; n++) {
    const before = synced;
    await engine.query('insert into kept values ($1)', [n]);
    expect(synced).toBeGreaterThan(before);
  }
  await engine.close();
});

test.each([
  ['EIO', 'query'],
  ['EIO', 'exec'],
  ['ENOSPC', 'exec'],
  ['EDQUOT', 'query'],
  ['ESTALE', 'exec'],
] as const)(
  'a commit that does not reach the disk (%s, %s) is not answered as done, and ends the engine',
  async (code, way) => {
    await layEmbedded(home);
    let fails = false;
    const files = new SyncedFiles(join(home, 'postgres'), (descriptor) => {
      if (fails) throw Object.assign(new Error('It said no'), { code });
      fsyncSync(descriptor);
    });
    const engine = new TellingEngine({ fs: files, startParams: [...SYNCED_START] });
    await engine.waitReady;
    engine.watchLoop();
    files.started();
    const guard = new GuardedEngine(engine, new DiskRoom(home));
    await guard.exec('create table kept (n integer)');
    fails = true;
    const told = await (way === 'query'
      ? guard.query('insert into kept values (1) returning n')
      : guard.exec('insert into kept values (1)')
    ).catch((error: Error) => error);
    expect(told).toBeInstanceOf(EngineEnded);
    expect((told as Error).message).toContain('could not fsync file');
    expect(await guard.ended).toBe(told as EngineEnded);
    fails = false;
    await expect(guard.query('select 1')).rejects.toBe(told as EngineEnded);
  },
);

test('a file system that syncs no folders (EINVAL) is one for PostgreSQL', async () => {
  await layEmbedded(home);
  let folders = 0;
  const files = new SyncedFiles(join(home, 'postgres'), (descriptor) => {
    if (!fstatSync(descriptor).isDirectory()) return fsyncSync(descriptor);
    folders++;
    throw Object.assign(new Error('It said no'), { code: 'EINVAL' });
  });
  const engine = new TellingEngine({ fs: files, startParams: [...SYNCED_START] });
  await engine.waitReady;
  engine.watchLoop();
  files.started();
  await engine.exec('create table kept (n integer)');
  await engine.exec('checkpoint');
  expect(folders).toBeGreaterThan(0);
  await engine.close();
});

/** The device of PGlite from which a COPY reads. */
interface BlobDevice {
  readonly stream_ops: { read(...asked: unknown[]): number };
}

test('a statement that is cut off in its midst leaves nothing behind', async () => {
  await layEmbedded(home);
  const opened = async (): Promise<TellingEngine> => {
    const fs = new SyncedFiles(join(home, 'postgres'));
    const engine = new TellingEngine({ fs, startParams: [...SYNCED_START] });
    await engine.waitReady;
    engine.watchLoop();
    return engine;
  };
  const engine = await opened();
  await engine.exec('create table kept (n integer)');
  const { FS } = (
    engine as unknown as {
      mod: {
        FS: {
          lookupPath(path: string): { node: { rdev: number } };
          devices: Readonly<Record<number, BlobDevice>>;
        };
      };
    }
  ).mod;
  const { stream_ops: blob } = FS.devices[FS.lookupPath('/dev/blob').node.rdev] as BlobDevice;
  const { read } = blob;
  let reads = 0;
  blob.read = (...asked) => {
    if (++reads > 4) throw new WebAssembly.RuntimeError('memory access out of bounds');
    return read(...asked);
  };
  const rows = new Blob(['1\n'.repeat(300_000)]);
  const copy = engine.query("copy kept from '/dev/blob'", [], { blob: rows });
  await expect(copy).rejects.toBeInstanceOf(EngineEnded);
  const again = await opened();
  expect((await again.query('select count(*)::integer as count from kept')).rows).toEqual([{ count: 0 }]);
  await again.close();
});

test.each([
  ['_PostgresMainLoopOnce', 'insert into kept values (1)', 'memory access out of bounds'],
  ['_PostgresMainLongJmp', 'select nothing', 'does not exist'],
] as const)(
  'a statement in which PostgreSQL is cut off (%s) is not answered as done, nor is any after it',
  async (place, statement, reason) => {
    await layEmbedded(home);
    const files = new SyncedFiles(join(home, 'postgres'));
    const engine = new TellingEngine({ fs: files, startParams: [...SYNCED_START] });
    await engine.waitReady;
    const loop = (engine as unknown as { mod: Record<typeof place, () => void> }).mod;
    const turn = loop[place];
    let isCut = false;
    loop[place] = () => {
      turn();
      if (isCut) throw new WebAssembly.RuntimeError('memory access out of bounds');
    };
    engine.watchLoop();
    await engine.exec('create table kept (n integer)');
    // The failure of a statement is none of this.
    await expect(engine.query('select nothing')).rejects.toMatchObject({ code: '42703' });
    isCut = true;
    const told = await engine.query(statement).catch((error: Error) => error);
    expect(told).toBeInstanceOf(EngineEnded);
    expect((told as Error).message).toContain(reason);
    isCut = false;
    await expect(engine.query('select 1')).rejects.toBeInstanceOf(EngineEnded);
  },
);

test.each(['EMFILE', 'ENOSPC'])('a file that could not be made (%s) is made later', async (code) => {
  await layEmbedded(home);
  const files = new SyncedFiles(join(home, 'postgres'));
  const engine = await PGlite.create({ fs: files, startParams: [...SYNCED_START] });
  files.started();
  await engine.exec('create table kept (n text)');
  const making = spyOn(fs, 'writeFileSync').mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  // The map of free space is a further file.
  const insert = () =>
    engine.query('insert into kept select repeat($1, 500) from generate_series(1, 200)', ['x']);
  try {
    await expect(insert()).rejects.toThrow(/could not create file/);
    expect(making).toHaveBeenCalled();
  } finally {
    making.mockRestore();
  }
  await insert();
  await engine.close();
});

test('an engine that cannot be made is an error, where PGlite would wait for it', async () => {
  const files = new SyncedFiles(join(home, 'postgres'));
  const { emscriptenOpts } = await files.init({} as PGlite, {});
  let made = 0;
  emscriptenOpts.instantiateWasm?.({}, () => made++);
  await expect(files.failed).rejects.toThrow(/import/);
  expect(made).toBe(0);
});

test('a start after a crash syncs at once what was left behind, and by itself what it changes', async () => {
  await layEmbedded(join(home, 'before'));
  const crashed = join(home, 'before', 'postgres');
  const before = await PGlite.create({ fs: new SyncedFiles(crashed), startParams: [...SYNCED_START] });
  await before.exec('create table kept (n integer); insert into kept values (1)');
  const found = await before.query<{ path: string }>(`select pg_relation_filepath('kept') as path`);
  // The files that a killed process leaves behind.
  const left = join(home, 'left');
  cpSync(crashed, left, { recursive: true });
  await before.close();

  const directory = join(home, 'after');
  const start = async (canSyncAll: boolean) => {
    rmSync(directory, { recursive: true, force: true });
    cpSync(left, directory, { recursive: true });
    const synced: string[] = [];
    let all = 0;
    const files = new SyncedFiles(
      directory,
      (descriptor) => void synced.push(readlinkSync(`/proc/self/fd/${descriptor}`)),
      () => {
        all++;
        return canSyncAll;
      },
    );
    const engine = await PGlite.create({ fs: files, startParams: [...SYNCED_START] });
    const tables = synced.filter(
      (name) => name.startsWith(join(directory, 'base')) && statSync(name).isFile(),
    );
    const { rows } = await engine.query('select n from kept');
    await engine.close();
    return {
      rows,
      all,
      tables: tables.length,
      hasChanged: synced.includes(join(directory, found.rows[0]?.path ?? '')),
    };
  };
  const [together, apart] = [await start(true), await start(false)];
  expect(together).toMatchObject({ rows: [{ n: 1 }], all: 1, hasChanged: true });
  expect(apart).toMatchObject({ rows: [{ n: 1 }], all: 1, hasChanged: true });
  // PostgreSQL's own files are some hundreds, of which recovery changes a few.
  expect(apart.tables).toBeGreaterThan(200);
  expect(together.tables).toBeLessThan(50);
});

test('a first start that was cut off leaves nothing that a second one takes for a database', async () => {
  const directory = join(home, 'postgres');
  // The files that are left when the process dies between making and naming them.
  await Bun.write(`${directory}.new/PG_VERSION`, '18');
  await ensureDataDirectory(directory);
  expect(readdirSync(home)).toEqual(['postgres']);
  const engine = await PGlite.create(directory);
  expect((await engine.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await engine.close();
});

test('a cursor of the event log holds beyond a crash that gives transaction ids out again', async () => {
  const query = { limit: 10 };
  const caller = { workspaceId: 'ws_crashed', livemode: false };
  const page = async (database: Database, after?: string, types?: string): Promise<Page<{ id: string }>> => {
    const asked = { ...query, ...(types && { types }), ...(after && { after }) };
    const read = await readLog({ database }, { caller, query: asked } as Parameters<typeof readLog>[1]);
    if (read instanceof Failure) throw new Error(read.message);
    return read;
  };
  const write = (database: Database, id: string) =>
    database.query(
      `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
       values ('em_1', $1, 'ws_crashed', false, 'sent', 'a@b.co', now(), '{}')`,
      [id],
    );
  const [first, second] = ['evt_111111111111111111111111', 'evt_222222222222222222222222'];
  await layEmbedded(join(home, 'before'));
  const before = await openDatabase({ url: null, dataDir: join(home, 'before') });
  await before.script(EDITABLE_VIEWS);
  await write(before, first);
  // The scheduler does so every second, and what it does need not be durable.
  for (let i = 0; i < 100; i++) await before.query('select pg_current_xact_id()');
  const [all, rare] = [await page(before), await page(before, undefined, 'sent')];
  const empty = await page(before, undefined, 'bounced');
  expect(all.data.map(({ id }) => id)).toEqual([first]);
  // The files that a killed process leaves behind.
  cpSync(join(home, 'before', 'postgres'), join(home, 'after', 'postgres'), { recursive: true });
  await before.close();

  const after = await openDatabase({ url: null, dataDir: join(home, 'after') });
  await write(after, second);
  const follow = async ({ pagination: { nextCursor } }: Page<unknown>, types?: string) =>
    (await page(after, nextCursor ?? '', types)).data.map(({ id }) => id);
  expect(await follow(all)).toEqual([second]);
  expect(await follow(rare, 'sent')).toEqual([second]);
  await after.query("update email_events set type = 'bounced' where id = $1", [second]);
  expect(await follow(empty, 'bounced')).toEqual([second]);
  await after.close();
});
