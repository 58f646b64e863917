import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Part } from '../../src/ops/backup/parts.ts';
import { readBackup } from '../../src/ops/backup/read-file.ts';
import { writeBackup } from '../../src/ops/backup/write-file.ts';
import { command } from '../support/command.ts';
import { layEmbedded } from '../support/embedded.ts';
import { EventFollower } from '../support/event-follower.ts';
import { EMAIL, expectStatus, fill, rowsOf, SECRET_KEY, served } from '../support/filled-service.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';
import { tableDigests } from '../support/table-digests.ts';

let home: string;
beforeAll(bringPreparedDirectory);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-backups-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const folder = (name: string): string => join(home, name);

test('embedded, backed up, restored on a server, moved back: every row is equal, and the log goes on where readers are', async () => {
  await using database = await createTestDatabase();
  const server = postgres(database.url, { max: 1, onnotice: () => {} });
  await server`drop schema public cascade`;
  await server`create schema public`;
  await server.end();
  const first = folder('first');
  await layEmbedded(first);
  const follower = new EventFollower();
  let key: string;
  {
    await using service = await served({ DATABASE_URL: '', DATA_DIR: first });
    key = await service.keyWith('test', ['*']);
    await fill(service, key);
    await follower.reach(service, key, 10);
  }
  const before = await rowsOf({ url: null, dataDir: first });
  expect(Object.keys(before).length).toBeGreaterThan(40);
  expect(before.contacts).toStartWith('6 rows');

  const file = folder('backup');
  const passphrase = folder('passphrase');
  writeFileSync(passphrase, 'correct horse battery\n');
  const made = await command(
    { DATA_DIR: first, SECRET_KEY },
    'backup',
    file,
    '--passphrase-file',
    passphrase,
  );
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/backup holds [\d,]+ rows of \d+ tables as they were at 20/),
  });
  expect(await rowsOf({ url: null, dataDir: first })).toEqual(before);

  const second = { DATABASE_URL: database.url, DATA_DIR: folder('second') };
  const restored = await command(
    { ...second, SECRET_KEY, BACKUP_PASSPHRASE: 'correct horse battery' },
    'restore',
    file,
  );
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('No faults') });
  expect(await rowsOf({ url: database.url, dataDir: null })).toEqual(before);

  {
    await using service = await served(second);
    await expectStatus(202, service.ask({ method: 'POST', path: '/v1/emails', key, body: EMAIL }));
    await follower.reach(service, key, 12);
    expect(await command({ ...second, SECRET_KEY }, 'move', '--to', 'embedded')).toMatchObject({
      code: 1,
      error: expect.stringContaining('A Posthorn serves from this database. Stop it first'),
    });
  }
  const there = await rowsOf({ url: database.url, dataDir: null });
  const moved = await command({ ...second, SECRET_KEY }, 'move', '--to', 'embedded');
  expect(moved).toMatchObject({ code: 0, out: expect.stringContaining('Unset DATABASE_URL') });
  expect(await rowsOf({ url: null, dataDir: second.DATA_DIR })).toEqual(there);
  expect(await rowsOf({ url: database.url, dataDir: null })).toEqual(there);

  await using service = await served({ DATABASE_URL: '', DATA_DIR: second.DATA_DIR });
  await expectStatus(202, service.ask({ method: 'POST', path: '/v1/emails', key, body: EMAIL }));
  await follower.reach(service, key, 14);
  const again = new EventFollower();
  await again.reach(service, key, 14);
  expect(follower.seen).toEqual(again.seen);
  expect(new Set(follower.seen).size).toBe(14);
});

describe('a backup', () => {
  /** A server's database with one workspace, and its backup. No test changes either. */
  let source: { readonly file: string; readonly url: string };
  const lasting = new AsyncDisposableStack();
  beforeAll(async () => {
    const place = mkdtempSync(join(tmpdir(), 'posthorn-backups-'));
    lasting.defer(() => rmSync(place, { recursive: true, force: true }));
    const { url } = lasting.use(await createTestDatabase());
    const settings = { DATABASE_URL: url, DATA_DIR: join(place, 'source') };
    expect(await command({ ...settings, SECRET_KEY }, 'workspaces', 'create', 'One')).toMatchObject({
      code: 0,
    });
    {
      // Binds the database to the key.
      await using _ = await served(settings);
    }
    const file = join(place, 'backup');
    const { code, error } = await command({ ...settings, SECRET_KEY }, 'backup', file);
    expect([code, error]).toEqual([0, expect.stringContaining('The secret key is in it, readable')]);
    source = { file, url };
  });
  afterAll(() => lasting.disposeAsync());

  test('is refused by a database that is not empty, under another key, and by a version that is too old', async () => {
    const target = { DATABASE_URL: source.url, DATA_DIR: folder('target'), SECRET_KEY };
    const before = await tableDigests({ url: source.url, dataDir: null });
    expect(await command(target, 'restore', source.file)).toMatchObject({
      code: 2,
      error: expect.stringContaining('There is a Posthorn in this database already.'),
    });
    expect(await tableDigests({ url: source.url, dataDir: null })).toEqual(before);

    await using foreign = await createTestDatabase();
    const sql = postgres(foreign.url, { max: 1, onnotice: () => {} });
    await sql`drop schema public cascade`;
    await sql`create schema public`;
    await sql`create table somebodys (n integer)`;
    expect(await command({ ...target, DATABASE_URL: foreign.url }, 'restore', source.file)).toMatchObject({
      code: 2,
      error: expect.stringContaining('The database is not empty: it has somebodys.'),
    });
    await sql`drop table somebodys`;

    const other = { ...target, DATABASE_URL: foreign.url, SECRET_KEY: 'another-key-another-key-another-key' };
    expect(await command(other, 'restore', source.file)).toMatchObject({
      code: 1,
      error: expect.stringContaining('SECRET_KEY differs from the backup'),
    });

    const newer = folder('newer');
    await writeBackup(newer, newerThan(readBackup(source.file, null)), { passphrase: null });
    expect(await command({ ...target, DATABASE_URL: foreign.url }, 'restore', newer)).toMatchObject({
      code: 1,
      error: expect.stringContaining('has migration 9999_later, which this version does not know'),
    });
    expect(await sql`select relname from pg_class where relnamespace = 'public'::regnamespace`).toHaveLength(
      0,
    );
    await sql.end();
  });

  test('can be looked at before there is anything to restore it into, and its key be had', async () => {
    const lacking = { PROFILE: 'production', DATABASE_URL: source.url };
    expect(await command(lacking, 'restore', source.file)).toMatchObject({ code: 2 });
    expect(await command(lacking, 'restore', '--print-secret-key', source.file)).toEqual({
      code: 0,
      error: '',
      out: `${SECRET_KEY}\n`,
    });
    expect(await command(lacking, 'restore', '--check', source.file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('is complete: made by Posthorn'),
    });
    const torn = folder('torn');
    writeFileSync(torn, readFileSync(source.file).subarray(0, -1));
    expect(await command(lacking, 'restore', '--check', torn)).toMatchObject({
      code: 1,
      error: expect.stringContaining('is damaged: it is cut off'),
    });
  });

  test('restored where no key is set brings its own; what is torn or needs a passphrase changes nothing', async () => {
    const dataDir = folder('target');
    const torn = folder('torn');
    writeFileSync(torn, readFileSync(source.file).subarray(0, -1));
    expect(await command({ DATA_DIR: dataDir }, 'restore', torn)).toMatchObject({ code: 1 });
    expect(existsSync(dataDir)).toBeFalse();

    // Rows of another table than the trailer says: loaded, and taken back.
    const less = folder('less');
    await writeBackup(less, withoutRowsOf('workspaces', readBackup(source.file, null)), { passphrase: null });
    expect(await command({ DATA_DIR: dataDir }, 'restore', less)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/violates foreign key|workspaces has 2 rows, and holds 0/),
    });
    expect(readdirSync(dataDir)).toEqual(['lock']);

    expect(await command({ DATA_DIR: dataDir }, 'restore', source.file)).toMatchObject({ code: 0 });
    expect(readFileSync(join(dataDir, 'secret-key'), 'utf8')).toBe(SECRET_KEY);
    expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres', 'secret-key']);
    expect(await command({ DATA_DIR: dataDir }, 'restore', source.file)).toMatchObject({
      code: 2,
      error: expect.stringContaining(`There is a database in ${dataDir} already.`),
    });
  });

  test('of a database under a wrong key is not made, nor of one that is not there', async () => {
    const wrong = { DATABASE_URL: source.url, SECRET_KEY: 'another-key-another-key-another-key' };
    const { code, error } = await command({ ...wrong, DATA_DIR: folder('x') }, 'backup', folder('other'));
    expect([code, error]).toEqual([
      2,
      expect.stringContaining('SECRET_KEY is not the key that this database'),
    ]);
    expect(await command({ DATA_DIR: folder('none') }, 'backup', folder('other'))).toMatchObject({
      code: 1,
      error: expect.stringContaining('There is no database in '),
    });
    expect(readdirSync(home)).not.toContain('other');
    expect(readdirSync(home)).not.toContain('other.part');
  });
});

async function* newerThan(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  for await (const part of parts)
    yield part.kind === 'header'
      ? {
          ...part,
          header: {
            ...part.header,
            migrations: [...part.header.migrations, { name: '9999_later', hash: '' }],
          },
        }
      : part;
}

async function* withoutRowsOf(table: string, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  let here = false;
  for await (const part of parts) {
    if (part.kind === 'table') here = part.table.name === table;
    if (part.kind !== 'rows' || !here) yield part;
  }
}

test('the schema has nothing that a backup would not carry: sequences, identities, triggers, large objects', async () => {
  await using database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1 });
  expect(
    (
      await sql`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'
      union all select tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where not tgisinternal and c.relnamespace = 'public'::regnamespace
      union all select attname from pg_attribute a join pg_class c on c.oid = a.attrelid
        where attidentity <> '' and c.relnamespace = 'public'::regnamespace`
    ).map(({ relname }) => relname),
    // A restore makes it by the migrations; it leaves entries alone that have their clock, as those in a
    // backup do.
  ).toEqual(['contact_activity_on_clock']);
  await sql.end();
});

const canMount = process.platform === 'linux' && process.geteuid?.() === 0;
if (!canMount) console.warn('Not root on Linux: backups on a full disk are not tried.');

test.skipIf(!canMount)(
  'a disk that fills during a backup or a restore is reported in a sentence, and nothing is left on it',
  async () => {
    await using database = await createTestDatabase();
    const settings = { DATABASE_URL: database.url, SECRET_KEY, DATA_DIR: folder('source') };
    await command(settings, 'workspaces', 'create', 'One');
    const sql = postgres(database.url, { max: 1 });
    await sql`insert into webhook_secrets (webhook_id, sealed, prefix)
    select 'wh_' || n, (select string_agg(md5(random()::text || n || m), '') from generate_series(1, 40) m), '' from generate_series(1, 4000) n`;
    await sql.end();
    const full = folder('full');
    mkdirSync(full);
    const mounted = (size: string) =>
      expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', full]).exitCode).toBe(0);
    mounted('1m');
    try {
      expect(await command(settings, 'backup', join(full, 'backup'))).toMatchObject({
        code: 1,
        error: expect.stringContaining('There is no room left on the disk of '),
      });
      expect(readdirSync(full)).toEqual([]);
    } finally {
      Bun.spawnSync(['umount', '-l', full]);
    }
    expect(await command(settings, 'backup', folder('backup'))).toMatchObject({ code: 0 });
    mounted('48m');
    try {
      const { code, error } = await command({ SECRET_KEY, DATA_DIR: full }, 'restore', folder('backup'));
      expect([code, error]).toEqual([1, expect.stringMatching(/no room left|No space left/)]);
      expect(readdirSync(full)).toEqual(['lock']);
    } finally {
      Bun.spawnSync(['umount', '-l', full]);
    }
  },
);
