import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { commitBatch } from '../../src/engine/store/commit.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';

// A machine that was suspended for three days makes the partition of today when it wakes, while its mail goes
// on. A row that was meant for the default partition then finds, once it has waited for the lock, that its
// day has a partition: PostgreSQL refuses it, once.

const TABLE = `create table days (id integer not null, constraint small check (id < 100)) partition by range (id);
  create table days_default partition of days default;
  create table days_today (like days including constraints)`;

test.each([
  { of: 'a batch', ids: [5, 15] },
  // Alone it is not saved by the halving of what passes for poison.
  { of: 'one alone', ids: [15] },
])('a row that was overtaken by the partition of its day is written there: $of', async ({ ids }) => {
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  await database.script(TABLE);
  const tried: (readonly number[])[] = [];
  const commit = {
    run: async (items: readonly number[]) => {
      tried.push(items);
      await database.query('insert into days select unnest($1::integer[])', [items.map(String)]);
      return items;
    },
    readBack: async () => [],
  };

  const maker = postgres(made.url, { max: 1 });
  const written = await maker.begin(async (tx) => {
    await tx.unsafe('alter table days attach partition days_today for values from (10) to (20)');
    const committing = commitBatch(commit, ids);
    await eventually('the row waits for the default partition', async () => {
      const [row] = await tx.unsafe(
        `select from pg_locks where not granted and relation = 'days_default'::regclass
          and database = (select oid from pg_database where datname = current_database())`,
      );
      return row ? true : undefined;
    });
    return { committing };
  });
  expect(await written.committing).toEqual(ids.map((committed) => ({ committed })));
  // The whole batch was tried again, as it is after contention.
  expect(tried).toEqual([ids, ids]);
  expect(await database.query('select id from days_today')).toEqual([{ id: 15 }]);

  // A check that is violated names itself, and stays the fault of its row.
  const [poisoned] = await commitBatch(commit, [100]);
  expect(poisoned).toMatchObject({ poisoned: { code: '23514', constraint_name: 'small' } });
  await maker.end();
  await database.close();
});
