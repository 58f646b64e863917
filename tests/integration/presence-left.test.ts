import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { LOCKS } from '../../src/engine/presence.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService } from '../support/service.ts';

test('an instance that notices the end of another one tells all others what was left', async () => {
  await using stack = new AsyncDisposableStack();
  const database = await createTestDatabase();
  stack.defer(() => database.close());
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  stack.defer(() => sql.end());
  const service = await startService({ env: { DATABASE_URL: database.url } });
  stack.use(service);
  const heard: string[] = [];
  await sql.listen('posthorn', (payload) => void heard.push(payload));
  const dying = postgres(database.url, { max: 1, onnotice: () => {} });
  await dying`select pg_advisory_lock(${LOCKS}, 7)`;
  await sql`insert into service_instances (id, roles, seen_at, epoch) values ('dying', '{delivery}', now(), 7)`;
  await eventually('it waits for the other one', async () => {
    const waits = await sql`select from pg_locks where locktype = 'advisory' and not granted and objid = 7
      and database = (select oid from pg_database where datname = current_database())`;
    return waits.length > 0 || undefined;
  });
  await dying.end();
  await eventually('it tells', () => heard.some((one) => one.startsWith('left ')) || undefined);
  expect(heard.some((one) => one.startsWith('left '))).toBe(true);
});
