import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import {
  emailSpawn,
  engineOver,
  ManualClock,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';

// An instance that knows of no other claims nothing of what is due. What it cannot wake must keep nothing
// else waiting.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const DUE = NOW + 60_000;

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store?.[Symbol.asyncDispose]());

/** An engine that is alone, with so many emails that are due at one moment. */
async function aloneWith(count: number) {
  const clock = new ManualClock(NOW);
  const database = new HookedDatabase(store.database);
  const engine = engineOver(database, { clock });
  engine.shareTimers(false);
  const inserts = Array.from({ length: count }, () => emailSpawn(plainInput(NOW, { scheduledAt: DUE })));
  await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
  clock.time = DUE;
  const ids = inserts.map(({ id }) => id ?? '').sort();
  const scheduled = async () =>
    (
      await rowsOf<{ id: string }>(
        store.database,
        `select id from emails_now where id = any($1::text[]) and state = 'scheduled'`,
        [ids],
      )
    ).map(({ id }) => id);
  return { clock, database, engine, ids, scheduled };
}

test('rows of emails that are gone are forgotten, and those behind them leave', async () => {
  const { engine, scheduled } = await aloneWith(20);
  await store.database.query(
    `insert into email_due (id, workspace_id, livemode, state, wake_at)
     select 'em_000000000' || lpad(n::text, 15, '0'), 'ws_gone', false, 'deferred', $1::timestamptz from generate_series(1, 700) n`,
    [new Date(DUE - 1_000).toISOString()],
  );
  await engine.wakeDue();
  expect(await scheduled()).toEqual([]);
  expect(await rowsOf(store.database, `select from email_due where workspace_id = 'ws_gone'`)).toHaveLength(
    0,
  );
  await engine.stop();
});

test('an email that cannot be read keeps those waiting that are read with it, and no others', async () => {
  const { engine, database, ids, scheduled } = await aloneWith(1_200);
  const [damaged = ''] = ids;
  database.before = (text, parameters) => {
    if (text.includes('left join lateral') && JSON.stringify(parameters).includes(damaged))
      throw new Error('invalid page in block 7');
    return undefined;
  };
  for (let sweep = 0; sweep < 4; sweep++) await engine.wakeDue();
  expect((await scheduled()).length).toBeLessThanOrEqual(500);
  await engine.stop();
});

test('a locked actor is passed over, and is woken once it is free', async () => {
  const { engine, ids, scheduled } = await aloneWith(20);
  const sql = postgres(store.url as string, { max: 1, onnotice: () => {} });
  await using _ = { [Symbol.asyncDispose]: () => sql.end() };
  const holder = await sql.reserve();
  await holder.unsafe('begin');
  await holder.unsafe(`select from email_due where id = '${ids[3]}' for update`);
  await engine.wakeDue();
  expect(await scheduled()).toEqual([ids[3] as string]);
  await holder.unsafe('commit');
  holder.release();
  await engine.wakeDue();
  expect(await scheduled()).toEqual([]);
  await engine.stop();
});
