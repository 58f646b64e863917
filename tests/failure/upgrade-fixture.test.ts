import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '../../src/platform/db/migrate.ts';
import { migrations } from '../../src/platform/db/migrations.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import facts from '../fixtures/upgrade/facts.json';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, printed, type Service, startService, TEST_KEY } from '../support/service.ts';

// From the data of an earlier version, which scripts/upgrade-fixture.ts has made, to this one.

const FOLDER = resolve(import.meta.dir, '../fixtures/upgrade');
const CLIENTS = 4;
const LEAST_EACH = 25;
const EMAIL = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'New', text: 'Hi' };

/** The additions of this version, which the earlier one does not know. */
const added = migrations.map(({ name }) => name).filter((name) => name > facts.lastMigration);
const known = migrations.slice(0, migrations.length - Math.max(1, added.length));

const migratedBy = async (service: Service): Promise<string[]> => {
  await printed(service, /"Listening"/);
  return [...service.output().matchAll(/"migration":"(\w+)".*"Migrated"/g)].map(([, name = '']) => name);
};

async function delivered(url: string, id: string): Promise<void> {
  const client = createClient(url, TEST_KEY);
  await eventually(`${id} delivered`, async () =>
    (await client.get(`/v1/emails/${id}`)).body.data?.status === 'delivered' ? true : undefined,
  );
}

/** Everything that was stored is shown as it was, at least; what was due goes out; what is new as well. */
async function serves(url: string, { stored, scheduled }: typeof facts.server): Promise<void> {
  for (const { path, live, shown } of stored) {
    const { status, body } = await createClient(url, live ? LIVE_KEY : TEST_KEY).get(path);
    expect([status, body.data]).toEqual([200, expect.objectContaining(shown)]);
  }
  await delivered(url, scheduled);
  const accepted = await createClient(url, TEST_KEY).post('/v1/emails', EMAIL);
  expect(accepted.status).toBe(202);
  await delivered(url, accepted.body.data.id);
}

async function load(made: TestDatabase): Promise<void> {
  const database = await openDatabase({ url: made.url, dataDir: null });
  await database.script('drop schema public cascade; create schema public');
  await database.script(await Bun.file(join(FOLDER, 'dump.sql')).text());
  await database.close();
}

const ENV = {
  SECRET_KEY: facts.secretKey,
  PROFILE: 'production',
  LOG_LEVEL: 'info',
  TEST_SENDS_PER_DAY: '0',
};

test('an embedded directory of an earlier version is migrated, and served', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-upgrade-'));
  try {
    const packed = await Bun.file(join(FOLDER, 'embedded.tar.zst')).bytes();
    await new Bun.Archive(Bun.zstdDecompressSync(packed)).extract(dataDir);
    {
      await using service = await startService({ dataDir, env: ENV });
      expect(await migratedBy(service)).toEqual(added);
      await serves(service.url, facts.embedded);
      expect(await service.stop()).toBe(0);
    }
    const { code, out, error } = await command({ ...ENV, DATA_DIR: dataDir }, 'audit');
    expect([code, code === 0 ? '' : out + error]).toEqual([0, '']);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('two instances start on a dump of an earlier version and one is replaced, under load: nothing is lost', async () => {
  await using made = await createTestDatabase();
  await load(made);
  const env = { ...ENV, DATABASE_URL: made.url, RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' };
  await using stack = new AsyncDisposableStack();
  const [first, second] = await Promise.all([startService({ env }), startService({ env })]);
  stack.use(first);
  stack.use(second);
  // Both came at once, and each migration was made by one of them.
  expect([...(await migratedBy(first)), ...(await migratedBy(second))].toSorted()).toEqual(added);

  const accepted: string[] = [];
  let isOver = false;
  const client = async (): Promise<void> => {
    for (let n = 0; n < LEAST_EACH || !isOver; n++)
      for (const { url } of [first, second]) {
        // The one that is replaced refuses connections in the end; whatever it has answered has to hold.
        const answer = await createClient(url, TEST_KEY)
          .post('/v1/emails', EMAIL)
          .catch(() => null);
        if (answer?.status === 202) accepted.push(answer.body.data.id);
      }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await eventually('some load', async () => (accepted.length > CLIENTS ? true : undefined));
  expect(await first.stop()).toBe(0);
  const third = stack.use(await startService({ env }));
  expect(await migratedBy(third)).toEqual([]);
  isOver = true;
  await Promise.all(clients);
  const database = await openDatabase({ url: made.url, dataDir: null });
  stack.defer(() => database.close());
  const count = `select count(*)::int as n from emails_now where id = any($1) and state = 'delivered'`;
  await eventually('all delivered', async () => {
    const [row] = await database.query<{ n: number }>(count, [accepted]);
    return row?.n === accepted.length ? true : undefined;
  });
  await serves(second.url, facts.server);
  const { code, out, error } = await command(env, 'audit');
  expect([code, code === 0 ? '' : out + error]).toEqual([0, '']);

  const ledger = () => database.query('select name, hash from posthorn_migrations order by name');
  const before = await ledger();
  const newer = migrations[known.length]?.name;
  await expect(migrate(database, known)).rejects.toThrow(
    `The database has migration ${newer}, which this version does not know. Run the newer version that made it.`,
  );
  expect(await ledger()).toEqual(before);
});
