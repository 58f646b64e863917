import { expect, test } from 'bun:test';
import { ContactCounter } from '../../src/audience/audiences/count.ts';
import { readContactFilter } from '../../src/audience/audiences/filter.ts';
import { tableAnalyser } from '../../src/engine/duties/table-analyser.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const SCOPE = { workspaceId: 'ws_many', livemode: true };
const PEOPLE = 30_000;

test('the embedded database learns how many rows a filter meets, and looks again once much has changed', async () => {
  const database = await embeddedDatabase();
  const analysed = async (): Promise<number> => {
    const [row] = await database.query<{ times: number }>(
      `select analyze_count::integer as times from pg_stat_user_tables where relname = 'contacts'`,
    );
    return row?.times ?? 0;
  };
  const duty = tableAnalyser({ database });
  const people = async (from: number, to: number) => {
    await database.query(
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
       select $1, true, 'con_' || lpad(i::text, 24, '0'), i || '@x', i || '@x', '{"plan": "free"}', 'subscribed', now(), now()
       from generate_series($2::integer, $3::integer) i`,
      [SCOPE.workspaceId, from, to],
    );
    // Changes are counted once a second, or on request.
    await database.query('select pg_stat_force_next_flush()');
  };
  await people(1, PEOPLE);
  const written = { field: 'properties.plan', operator: 'contains', value: 'ee' };
  const filter = await readContactFilter(database, SCOPE, written, { at: '', above: [] });
  if (!('sql' in filter)) throw new Error('The filter is good.');
  // A planner without statistics takes this for little work, and does all of it.
  const counter = new ContactCounter(database, 500);
  const count = () => counter.count(SCOPE, filter.sql(Date.now()));
  expect(await count()).toEqual({ count: PEOPLE, isExact: true });
  await duty.run();
  expect(await analysed()).toBe(1);
  const { count: estimated, isExact } = await count();
  expect([isExact, Math.abs(estimated - PEOPLE) < PEOPLE / 5]).toEqual([false, true]);
  await people(PEOPLE + 1, PEOPLE + 2_000);
  await duty.run();
  expect(await analysed()).toBe(1);
  await people(PEOPLE + 2_001, PEOPLE + 4_500);
  await duty.run();
  expect(await analysed()).toBe(2);
  await database.close();
});
