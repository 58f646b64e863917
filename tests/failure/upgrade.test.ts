import { expect, test } from 'bun:test';
import { MigrationMismatch, migrate } from '../../src/platform/db/migrate.ts';
import { migrations } from '../../src/platform/db/migrations.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { spawnService, startService, TEST_KEY } from '../support/service.ts';
import { timersPassed } from '../support/stored-email.ts';

// An upgrade while the service runs: the newer version migrates the database under the older one.

const email = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'Hello', text: 'Hi' };

test('an instance goes on while another has moved the schema on; started again, it refuses', async () => {
  await using made = await createTestDatabase();
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'x'.repeat(32) };
  await using older = await startService({ env });
  const database = await openDatabase({ url: made.url, dataDir: null });
  await database.script(`
    alter table emails add column of_the_future text;
    insert into posthorn_migrations (name, hash) values ('9999_future', 'f')`);
  const client = createClient(older.url, TEST_KEY);
  const { status, body } = await client.post('/v1/emails', email);
  expect(status).toBe(202);
  await eventually('delivered', async () =>
    (await client.get(`/v1/emails/${body.data.id}`)).body.data.status === 'delivered' ? true : undefined,
  );
  await older.stop();
  await using again = await spawnService({ env });
  expect(await again.ended).toBe(1);
  expect(again.output()).toContain(
    'The database has migration 9999_future, which this version does not know',
  );
  await database.close();
});

test('what one instance accepted and did not finish, the one that replaces it finishes', async () => {
  await using made = await createTestDatabase();
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'x'.repeat(32) };
  let id: string;
  {
    await using older = await startService({ env });
    const later = { ...email, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() };
    const { body } = await createClient(older.url, TEST_KEY).post('/v1/emails', later);
    id = body.data.id;
    expect(body.data.status).toBe('scheduled');
    await older.stop();
  }
  const database = await openDatabase({ url: made.url, dataDir: null });
  for (const text of timersPassed(`'scheduled'`)) await database.query(text);
  await database.close();
  await using newer = await startService({ env });
  const client = createClient(newer.url, TEST_KEY);
  await eventually('delivered', async () =>
    (await client.get(`/v1/emails/${id}`)).body.data.status === 'delivered' ? true : undefined,
  );
});

test('each migration is logged with its time, once, and a release that does not know it refuses to start', async () => {
  await using made = await createTestDatabase();
  const database = await openDatabase({ url: made.url, dataDir: null });
  try {
    const later = [...migrations, { name: '9998_later', sql: 'create table later ()' }];
    const told: [string, number][] = [];
    const tell = (name: string, ms: number) => void told.push([name, ms]);
    expect(await migrate(database, later, tell)).toEqual(['9998_later']);
    expect(await migrate(database, later, tell)).toEqual([]);
    expect(told).toEqual([['9998_later', expect.any(Number)]]);
    await expect(migrate(database)).rejects.toThrow(MigrationMismatch);
    await expect(migrate(database)).rejects.toThrow(
      '9998_later, which this version does not know. Run the newer',
    );
  } finally {
    await database.close();
  }
});
