import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DISTRIBUTED } from '../../src/platform/db/distribution/catalogue.ts';
import { distribute, NotDistributable } from '../../src/platform/db/distribution/distribute.ts';
import { HalfDistributed, isDistributedDatabase } from '../../src/platform/db/distribution/present.ts';
import { openShards } from '../../src/platform/db/distribution/shards.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { migrations } from '../../src/platform/db/migrations.ts';
import { installStandIn } from '../support/citus-stand-in.ts';
import { command } from '../support/command.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  embeddedStore,
  engineOver,
  idle,
  plainInput,
  postgresStore,
  rowsOf,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';

const NAMES = DISTRIBUTED.map(({ table }) => table);

describe('distributing a database', () => {
  test('is refused with a sentence where Citus is not, and of the embedded one', async () => {
    await using store = await postgresStore();
    await using embedded = await embeddedStore();
    await expect(distribute(store.database)).rejects.toThrow(
      /extension citus is not in this database\. Install Citus/,
    );
    await expect(distribute(embedded.database)).rejects.toThrow(NotDistributable);
    expect(await isDistributedDatabase(store.database)).toBe(false);
    expect(await isDistributedDatabase(embedded.database)).toBe(false);
  });

  test('is refused by the command before it makes or changes a database', async () => {
    const home = mkdtempSync(join(tmpdir(), 'posthorn-undistributed-'));
    await using database = await createTestDatabase();
    try {
      const DATA_DIR = join(home, 'data');
      const embedded = await command({ DATA_DIR }, 'migrate', '--distributed');
      expect([embedded.code, embedded.error]).toEqual([
        1,
        expect.stringContaining('The embedded database is one process.'),
      ]);
      expect(existsSync(DATA_DIR)).toBeFalse();
      const served = await command({ DATABASE_URL: database.url }, 'migrate', '--distributed');
      expect([served.code, served.out]).toEqual([1, '']);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  test('places every table beside the first by its workspace, which is in every key, and does so once', async () => {
    await using store = await postgresStore();
    const { database } = store;
    await installStandIn(database);
    await database.script(`
      insert into webhook_deliveries (id, workspace_id, livemode, state, context, revision, machine_version, webhook_id, event_id,
        event_type, email_id) values ('dlv_1', 'ws_1', true, 'success', '{}', 1, 1, 'wh_1', 'evt_1', 'sent', 'em_1');
      insert into webhook_delivery_journal (actor_id, revision, commit_tag, steps)
        values ('dlv_1', 1, 1, '[]'), ('dlv_gone', 1, 1, '[]')`);
    expect(await distribute(database)).toEqual(NAMES);
    expect(await rowsOf(database, 'select actor_id, workspace_id from webhook_delivery_journal')).toEqual([
      { actor_id: 'dlv_1', workspace_id: 'ws_1' },
    ]);
    expect(await isDistributedDatabase(database)).toBe(true);
    expect(await distribute(database)).toEqual([]);
  });

  test('goes on where it was interrupted; until then no instance serves', async () => {
    await using store = await postgresStore();
    const { database } = store;
    await installStandIn(database);
    await database.query(`insert into refused values ('usage'::regclass)`);
    await expect(distribute(database)).rejects.toThrow('A node is away.');
    await expect(isDistributedDatabase(database)).rejects.toThrow(HalfDistributed);
    await database.query('delete from refused');
    expect(await distribute(database)).toEqual(NAMES.slice(NAMES.indexOf('usage')));
  });
});

test('a later migration runs as one command on a distributed database, and leaves storage as it is', async () => {
  await using store = await postgresStore();
  const { database } = store;
  await installStandIn(database);
  await distribute(database);
  const later = {
    name: '9999_later',
    sql: 'alter table captured add column later text;\nalter table captured alter column raw set storage main;\n',
  };
  expect(await migrate(database, [...migrations, later])).toEqual(['9999_later']);
  expect(await migrate(database, [...migrations, later])).toEqual([]);
  expect(
    await rowsOf(
      database,
      `select attname, attstorage from pg_attribute where attrelid = 'captured'::regclass and attname in ('later', 'raw') order by 1`,
    ),
  ).toEqual([
    { attname: 'later', attstorage: 'x' },
    { attname: 'raw', attstorage: 'e' },
  ]);
});

test('emails of many workspaces are accepted, claimed and ended by statements for one shard each', async () => {
  await using store = await postgresStore();
  const { database } = store;
  await installStandIn(database);
  await distribute(database);
  const shards = await openShards(database, performance.now.bind(performance));
  if (!shards) throw new Error('It is not distributed.');
  const lists: (readonly string[])[] = [];
  const watched = new HookedDatabase(database);
  watched.before = (_text, parameters) => {
    for (const each of parameters)
      if (Array.isArray(each) && each[0]?.startsWith('ws_many_') && each.length > 0) lists.push(each);
  };
  const engine = engineOver(watched, { performer: idle, shards, keptActors: 0 });
  const at = Date.now();
  const inserts = Array.from({ length: 40 }, (_, n) =>
    emailSpawn(plainInput(at, n < 20 ? {} : { scheduledAt: at - 1 }), { workspaceId: `ws_many_${n % 10}` }),
  );
  await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
  engine.start();
  await engine.wakeDue();
  await Promise.all(inserts.map(({ id }) => engine.tell('email', id, accepted(Date.now()))));
  await engine.stop();
  expect(await countOf(database, 'emails')).toBe(40);
  expect(
    await rowsOf(database, 'select state, count(*)::integer as many from emails_now group by 1'),
  ).toEqual([{ state: 'sent', many: 40 }]);
  expect(lists.length).toBeGreaterThan(3);
  for (const list of lists) expect(await shards.groups(list, (each) => each)).toHaveLength(1);
});
