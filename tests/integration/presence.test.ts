import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Database } from '../../src/platform/db/database.ts';
import {
  emailSpawn,
  engineOver,
  ManualClock,
  plainInput,
  postgresStore,
  type Store,
} from '../support/engine.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const LEASE_MS = 720_000;
const MINE = 1;
const THEIRS = 2;

let store: Store;
let sql: postgres.Sql;
beforeAll(async () => {
  store = await postgresStore();
  sql = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await store[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await sql`truncate service_instances, emails, email_turns, email_due`;
});

const live = (more = {}) => emailSpawn(plainInput(NOW, { livemode: true, leaseMs: LEASE_MS, ...more }));
const begun = (attempt = 1): EmailEvent => ({
  type: 'attempt.begun',
  at: NOW,
  attempt,
  by: `one ${attempt}`,
});
const dueOf = async (id: string) => {
  const [row] =
    await sql`select state, held_by, (extract(epoch from wake_at) * 1000)::float8 - ${NOW}::float8 as "inMs"
    from email_due where id = ${id}`;
  return row;
};

test('an email that waits in memory has the epoch of its instance, and none once an attempt has begun', async () => {
  const engine = engineOver(store.database, { clock: new ManualClock(NOW), epoch: () => MINE });
  const [waiting, sending, later] = [live(), live(), live({ scheduledAt: NOW + 5_000 })];
  for (const each of [waiting, sending, later]) await engine.spawn('email', each);
  expect(await dueOf(waiting.id)).toEqual({ state: 'queued', held_by: MINE, inMs: 1_000 });
  expect(await dueOf(later.id)).toEqual({ state: 'scheduled', held_by: null, inMs: 5_000 });
  await engine.tell('email', sending.id, begun());
  expect(await dueOf(sending.id)).toEqual({ state: 'sending', held_by: null, inMs: LEASE_MS });
  // A limit puts it off: it waits in the database, not in memory.
  const because = { until: NOW + 9_000, transport: 'smtp' as const, perDay: 1 };
  await engine.tell('email', waiting.id, { type: 'attempt.postponed', at: NOW, attempt: 1, because });
  expect(await dueOf(waiting.id)).toEqual({ state: 'queued', held_by: null, inMs: 9_000 });
  await engine.stop();
});

test('a claim is held by its claimer, and what an epoch holds is due at once when it is gone', async () => {
  const clock = new ManualClock(NOW);
  const gone = engineOver(store.database, { clock, epoch: () => MINE });
  const [first, second] = [live(), live()];
  for (const each of [first, second]) await gone.spawn('email', each);
  clock.time += 1_000;
  const claimer = engineOver(store.database, { clock, epoch: () => THEIRS });
  const third = live();
  await sql`update email_due set wake_at = ${new Date(NOW + 30_000)} where id = ${second.id}`;
  await claimer.wakeDue();
  expect(await dueOf(first.id)).toEqual({ state: 'queued', held_by: THEIRS, inMs: 6_000 });
  await gone.spawn('email', third);

  const other = engineOver(store.database, { clock });
  expect(await other.takeUp([MINE])).toBe(1);
  expect(await dueOf(first.id)).toEqual({ state: 'queued', held_by: THEIRS, inMs: 6_000 });
  expect(await dueOf(second.id)).toEqual({ state: 'queued', held_by: null, inMs: 1_000 });
  expect(await other.takeUp([MINE, THEIRS])).toBe(1);
  expect(await dueOf(first.id)).toEqual({ state: 'queued', held_by: null, inMs: 1_000 });
  for (const engine of [gone, claimer, other]) await engine.stop();
});

test.each([
  [999, [999]],
  [1_000, [1_000, 0]],
  [1_001, [1_000, 1]],
])('of %d emails one statement releases a thousand at most', async (held, each) => {
  const released: number[] = [];
  const { database } = store;
  const counting: Database = Object.assign(Object.create(database), {
    async query<Row extends object>(...asked: Parameters<Database['query']>): Promise<Row[]> {
      const rows = await database.query<Row>(...asked);
      if (asked[0].includes('held_by = null')) released.push((rows[0] as unknown as { n: number }).n);
      return rows;
    },
  });
  await sql`insert into email_due (id, workspace_id, livemode, state, wake_at, held_by)
    select 'em_' || n, 'ws_test', true, 'queued', ${new Date(NOW + 1_000)}::timestamptz, ${MINE}::integer
    from generate_series(1, ${held}) n`;
  const engine = engineOver(counting, { clock: new ManualClock(NOW) });
  expect(await engine.takeUp([MINE])).toBe(held);
  expect(released).toEqual(each);
  await engine.stop();
});

test('a row that another transaction has locked is left to it, and one that waits for longer than a minute is none of memory', async () => {
  const row = (id: string, inMs: number) => sql`insert into email_due
    (id, workspace_id, livemode, state, wake_at, held_by)
    values (${id}, 'ws_test', true, 'queued', ${new Date(NOW + inMs)}, ${MINE})`;
  await row('em_locked', 1_000);
  await row('em_free', 1_000);
  await row('em_later', 61_000);
  const engine = engineOver(store.database, { clock: new ManualClock(NOW) });
  await sql.begin(async (transaction) => {
    await transaction`select from email_due where id = 'em_locked' for update`;
    expect(await engine.takeUp([MINE])).toBe(1);
  });
  const held = await sql<{ id: string }[]>`select id from email_due where held_by = ${MINE} order by id`;
  expect(held.map(({ id }) => id)).toEqual(['em_later', 'em_locked']);
  await sql`delete from email_due where id = any(${['em_locked', 'em_free', 'em_later']})`;
  await engine.stop();
});

test('a lease does not end sooner, even where its row names an epoch that is gone', async () => {
  const clock = new ManualClock(NOW);
  const engine = engineOver(store.database, { clock });
  const email = live({ leaseMs: 30_000 });
  await engine.spawn('email', email);
  await engine.tell('email', email.id, begun());
  // A version before this one leaves the epoch in the row.
  await sql`update email_due set held_by = ${MINE} where id = ${email.id}`;
  expect(await engine.takeUp([MINE])).toBe(1);
  await engine.wakeDue();
  expect(await dueOf(email.id)).toMatchObject({ state: 'sending', inMs: 30_000 });
  await engine.stop();
});

test('of two that have an email in memory the first to begin has it, and the other is refused', async () => {
  const clock = new ManualClock(NOW);
  const cut = engineOver(store.database, { clock, epoch: () => MINE });
  const email = live();
  await cut.spawn('email', email);
  const other = engineOver(store.database, { clock });
  await other.takeUp([MINE]);
  const theirs = { ...begun(), by: 'the other' } as EmailEvent;
  expect(await other.tell('email', email.id, theirs)).toMatchObject({ outcome: 'changed', state: 'sending' });
  expect(await cut.tell('email', email.id, begun())).toMatchObject({ outcome: 'refused' });
  for (const engine of [cut, other]) await engine.stop();
});
