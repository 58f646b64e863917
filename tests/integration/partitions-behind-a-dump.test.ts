import { expect, test } from 'bun:test';
import postgres from 'postgres';
import {
  ensurePartitions,
  PARTITIONED,
  partitionedDays,
  partitionName,
} from '../../src/platform/db/partitions.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { startRealService } from '../contract/real-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// pg_dump holds every table that it has looked at, in the weakest mode there is, until it ends. Partitions
// are attached in the strongest, and every statement that comes while that lock is waited for queues behind
// it.

const DAY = 86_400_000;

/** Does the work while a dump holds all tables, and no longer. */
async function behindADump(made: TestDatabase, tables: readonly string[], work: () => Promise<void>) {
  const dump = postgres(made.url, { max: 1 });
  await dump.begin('isolation level repeatable read, read only', async (tx) => {
    await tx.unsafe(`lock table ${tables.join(', ')} in access share mode`);
    await work();
  });
  await dump.end();
}

const DEFAULTS = PARTITIONED.map(({ table }) => `${table}_default`);

test('an instance starts behind a dump, and makes its partitions once that has ended', async () => {
  await using made = await createTestDatabase();
  await behindADump(made, DEFAULTS, async () => {
    await using service = await startRealService({ DATABASE_URL: made.url });
    expect(await partitionedDays(service.service.database)).toEqual([]);
    const key = await service.keyWith('test', ['*']);
    const body = { from: 'a@b.co', to: 'delivered@simulator.svc.test', subject: 'Hi', text: 'Hi' };
    expect((await service.ask({ method: 'POST', path: '/v1/emails', key, body })).status).toBe(202);
  });
  await using after = await startRealService({ DATABASE_URL: made.url });
  // Rows of today lie in the default partition of most tables, and stay there; the days to come have their
  // own.
  expect((await partitionedDays(after.service.database)).length).toBeGreaterThanOrEqual(2);
});

test('a table that is dumped is left for later, the others are not', async () => {
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  const now = Date.now() + 30 * DAY;
  const namesOf = (tables: readonly string[]) =>
    tables.flatMap((table) => [0, 1, 2].map((day) => partitionName(table, now + day * DAY)));
  await behindADump(made, ['email_turns_default'], async () => {
    expect([...(await ensurePartitions(database, now))].sort()).toEqual(namesOf(['emails']).sort());
  });
  expect([...(await ensurePartitions(database, now))].sort()).toEqual(namesOf(['email_turns']).sort());
  await database.close();
});

test('those who read meanwhile are answered before the dump has ended', async () => {
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  const reader = postgres(made.url, { max: 4 });
  let making = true;
  let answered = 0;
  const read = async (): Promise<void> => {
    while (making) {
      await reader`select count(*) from email_events`;
      answered += 1;
    }
  };
  await behindADump(made, DEFAULTS, async () => {
    const readers = Promise.all([read(), read(), read(), read()]);
    for (let round = 0; round < 5; round++) expect(await ensurePartitions(database, Date.now())).toEqual([]);
    making = false;
    await readers;
  });
  expect(answered).toBeGreaterThan(4);
  await reader.end();
  await database.close();
});
