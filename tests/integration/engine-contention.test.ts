import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  engineOver,
  ManualClock,
  opened,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { eventually } from '../support/eventually.ts';
import { livedMsBeside } from '../support/own-time.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
/** The beginning of a statement that commits what was decided. */
const WRITES = 'with input';

let store: Store;
let databases: PostgresDatabase[] = [];
beforeAll(async () => {
  store = await postgresStore();
  databases = await Promise.all(Array.from({ length: 2 }, () => PostgresDatabase.open(store.url as string)));
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await store[Symbol.asyncDispose]();
});

/** Engines as several instances have them: each with its own connections and its own memory. */
const instances = (): Engine[] => databases.map((database) => engineOver(database));

async function sentEmails(count: number): Promise<readonly string[]> {
  const engine = engineOver(store.database);
  const inserts = Array.from({ length: count }, () => emailSpawn(plainInput(NOW)));
  await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
  await Promise.all(inserts.map(({ id }) => engine.tell('email', id, accepted(NOW))));
  return inserts.map(({ id }) => id);
}

/** The writes of these emails: none may be missing, none may be there twice. */
async function bookkeeping(ids: readonly string[]) {
  const [row] = await rowsOf<{
    marks: number;
    distinct: number;
    writes: number;
    revisions: number;
    steps: number;
  }>(
    store.database,
    `select
       (select count(*)::integer from email_events where email_id = any($1::text[]) and type = 'opened') as marks,
       (select count(distinct data ->> 'mark')::integer from email_events where email_id = any($1::text[]) and type = 'opened') as distinct,
       (select count(*)::integer from email_journal where actor_id = any($1::text[])) as writes,
       (select sum(revision)::integer from emails_now where id = any($1::text[])) as revisions,
       (select sum(json_array_length(steps))::integer from email_journal where actor_id = any($1::text[])) as steps`,
    [ids],
  );
  if (!row) throw new Error('no row');
  return row;
}

/**
 * Sends events until it is enough; answers the marks reported as durable, and those whose outcome is unknown.
 */
async function hammer(
  engine: Engine,
  ids: readonly string[],
  name: string,
  isEnough: (durable: readonly string[]) => boolean,
  patienceMs?: number,
) {
  const durable: string[] = [];
  const unknown: string[] = [];
  let mark = 0;
  const reader = async (id: string): Promise<void> => {
    while (!isEnough(durable)) {
      const data = { mark: `${name} ${mark++}` };
      try {
        const result = await engine.tell(
          'email',
          id,
          opened(NOW, data),
          patienceMs === undefined ? {} : { patienceMs },
        );
        expect(result.outcome).toBe('changed');
        durable.push(data.mark);
      } catch (error) {
        expect(error).toBeInstanceOf(UnavailableError);
        unknown.push(data.mark);
      }
    }
  };
  await Promise.all(ids.map(reader));
  return { durable, unknown };
}

const deadlocks = async (): Promise<number> =>
  (
    await rowsOf<{ n: number }>(
      store.database,
      'select deadlocks::integer as n from pg_stat_database where datname = current_database()',
    )
  )[0]?.n as number;

/**
 * Engines of which none writes before each of them has found something to write: else one whose connections
 * wait for a processor comes when the other has done everything.
 */
function sideBySide(clock: ManualClock): readonly Engine[] {
  const all = Promise.withResolvers<void>();
  let ready = 0;
  return databases.map((database) => {
    const hooked = new HookedDatabase(database);
    let isReady = false;
    hooked.before = (text) => {
      if (clock.time === NOW || !text.startsWith(WRITES)) return;
      if (!isReady && ++ready === databases.length) all.resolve();
      isReady = true;
      return all.promise;
    };
    return engineOver(hooked, { clock });
  });
}

/** Has engines wake so many emails that are due at one moment, and expects that each email was begun once. */
async function wokenBy(engines: readonly Engine[], clock: ManualClock): Promise<readonly string[]> {
  const inserts = Array.from({ length: 1_500 }, () =>
    emailSpawn(plainInput(NOW, { scheduledAt: NOW + 60_000 })),
  );
  await Promise.all(inserts.map((insert) => (engines[0] as Engine).spawn('email', insert)));
  clock.time = NOW + 60_000;
  await Promise.all(engines.map((engine) => engine.wakeDue()));
  const ids = inserts.map(({ id }) => id);
  const rows = await rowsOf<{ state: string; attempt: number; n: number }>(
    store.database,
    `select state, (context ->> 'attempt')::integer as attempt, count(*)::integer as n from emails_now
     where id = any($1::text[]) group by 1, 2`,
    [ids],
  );
  expect([...rows]).toEqual([{ state: 'sending', attempt: 1, n: 1_500 }]);
  return ids;
}

describe('two engines on one database', () => {
  test('contend for the same actors: every event is written once, and nothing deadlocks', async () => {
    const ids = await sentEmails(60);
    const heard = await Promise.all(
      instances().map((engine, index) =>
        hammer(engine, ids, `engine ${index}`, (durable) => durable.length > 1_000),
      ),
    );
    const durable = heard.flatMap((one) => one.durable);
    const written = await bookkeeping(ids);
    expect(heard.flatMap((one) => one.unknown)).toEqual([]);
    expect(durable.length).toBeGreaterThan(2_000);
    expect(written.marks).toBe(durable.length);
    expect(written.distinct).toBe(durable.length);
    // One journal row for each revision, and no step besides insert, attempt and opens.
    expect(written.writes).toBe(written.revisions);
    expect(written.steps).toBe(durable.length + 2 * ids.length);
    expect(await deadlocks()).toBe(0);
  });

  test('build on each other: what one has written the other never overwrites', async () => {
    const recipients = Array.from({ length: 20 }, () => ({ simulate: null }));
    const inserts = Array.from({ length: 20 }, () => emailSpawn(plainInput(NOW, { recipients })));
    const reports = inserts.flatMap(({ id }) => recipients.map((_, recipient) => ({ id, recipient })));
    const [one, two] = instances() as [Engine, Engine];
    await Promise.all(inserts.map((insert) => one.spawn('email', insert)));
    const outcomes = recipients.map((_, recipient) => ({ recipient, outcome: 'accepted', data: {} }));
    const completed = { type: 'attempt.completed', at: NOW, attempt: 1, outcomes } as EmailEvent;
    await Promise.all(inserts.map(({ id }) => two.tell('email', id, completed)));
    // Both tell of every recipient, each in another order and in separate batches.
    const tellAll = async (engine: Engine, order: typeof reports): Promise<number> => {
      let taken = 0;
      await Promise.all(
        order.map(async ({ id, recipient }, index) => {
          for (let turn = 0; turn < index % 40; turn++) await new Promise(setImmediate);
          const report = { type: 'delivered', recipient, data: {} };
          const told = await engine.tell('email', id, {
            type: 'report.received',
            at: NOW,
            report,
          } as EmailEvent);
          if (told.outcome === 'changed') taken++;
        }),
      );
      return taken;
    };
    // Each has the first ones of its order to itself, however slow it is.
    const orders = [reports, reports.toReversed()].map((order) => [order.slice(0, 20), order.slice(20)]);
    const first = await Promise.all([one, two].map((engine, at) => tellAll(engine, orders[at]?.[0] ?? [])));
    expect(first).toEqual([20, 20]);
    const rest = await Promise.all([one, two].map((engine, at) => tellAll(engine, orders[at]?.[1] ?? [])));
    expect(rest.reduce((sum, taken) => sum + taken, 0)).toBe(reports.length - 40);
    const rows = await rowsOf<{ state: string; events: number; people: number }>(
      store.database,
      `select e.state, count(*)::integer as events, count(distinct v.recipient)::integer as people
       from emails_now e join email_events v on v.email_id = e.id and v.type = 'delivered'
       where e.id = any($1::text[]) group by e.id, e.state`,
      [inserts.map(({ id }) => id)],
    );
    expect([...rows]).toEqual(inserts.map(() => ({ state: 'delivered', events: 20, people: 20 })));
  });

  test('share what is due: each email fires once', async () => {
    const clock = new ManualClock(NOW);
    const ids = await wokenBy(sideBySide(clock), clock);
    const written = await bookkeeping(ids);
    expect(written.writes).toBe(3_000);
    // Both had their share of it.
    const byTag = await rowsOf<{ n: number }>(
      store.database,
      `select count(distinct commit_tag >> 16)::integer as n from email_journal where actor_id = any($1::text[]) and revision = 2`,
      [ids],
    );
    expect(byTag[0]?.n).toBe(2);
  });

  test('wake each email once, though each of them takes itself to be alone', async () => {
    const clock = new ManualClock(NOW);
    const engines = sideBySide(clock);
    for (const engine of engines) engine.shareTimers(false);
    const ids = await wokenBy(engines, clock);
    // None is lost in between: each is due again when its lease ends, and not before.
    const [due] = await rowsOf<{ n: number }>(
      store.database,
      `select count(*)::integer as n from email_due where id = any($1::text[]) and wake_at > $2`,
      [ids, new Date(clock.time + 5_000).toISOString()],
    );
    expect(due?.n).toBe(1_500);
    const lost = engines.flatMap(({ traffic }) => traffic.map(({ lostRaces }) => lostRaces));
    expect(Math.max(...lost)).toBeGreaterThan(0);
  });

  test('lose nothing and double nothing while their backends are killed', async () => {
    const ids = await sentEmails(30);
    const killer = postgres(store.url as string, { max: 1, onnotice: () => {}, prepare: false });
    let killed = 0;
    let isOver = false;
    // Each has made a hundred durable in the midst of it, and backends died between any few of these. Only
    // what is durable counts: where failures did, each death would bring the next one before any statement
    // could end.
    const durable = { asked: 0, reported: 0 };
    const isEnough = () => Math.min(durable.asked, durable.reported) > 100 && killed > 20;
    const enoughOf = (name: keyof typeof durable) => (heard: readonly string[]) => {
      durable[name] = heard.length;
      return isOver || isEnough();
    };
    const killing = async (): Promise<void> => {
      while (!isOver) {
        const seen = durable.asked + durable.reported;
        const goesOn = () => durable.asked + durable.reported > seen + 10 || isOver || undefined;
        await eventually('it goes on', goesOn, { everyMs: 5 });
        const rows = await killer`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'posthorn #%'`;
        killed += rows.length;
      }
    };
    const [impatient, patient] = instances() as [Engine, Engine];
    // A part that ends, or fails, ends the others: they would go on in the tests that follow, and fill the
    // memory.
    const together = <T>(one: Promise<T>): Promise<T> =>
      one.finally(() => {
        isOver = true;
      });
    const [asked, reported] = await Promise.all([
      together(hammer(impatient, ids, 'asked', enoughOf('asked'))),
      together(hammer(patient, ids, 'reported', enoughOf('reported'), 600_000)),
      together(killing()),
    ]);
    await killer.end();
    expect(killed).toBeGreaterThan(20);
    expect(asked.durable.length).toBeGreaterThan(100);
    expect(reported.durable.length).toBeGreaterThan(100);
    // Outcomes outlast any of it.
    expect(reported.unknown).toEqual([]);
    await eventually('the store is reached again', () => store.database.ping());
    const rows = await rowsOf<{ mark: string }>(
      store.database,
      `select data ->> 'mark' as mark from email_events where email_id = any($1::text[]) and type = 'opened'`,
      [ids],
    );
    const marks = rows.map(({ mark }) => mark);
    const present = new Set(marks);
    expect(marks.length).toBe(present.size);
    expect([...asked.durable, ...reported.durable].filter((mark) => !present.has(mark))).toEqual([]);
    // The rest was answered with "unknown".
    const known = new Set([...asked.durable, ...reported.durable, ...asked.unknown]);
    expect(marks.filter((mark) => !known.has(mark))).toEqual([]);
    const written = await bookkeeping(ids);
    expect(written.writes).toBe(written.revisions);
  });

  test('carry on after a database that was restarted under them', async () => {
    const [id = ''] = await sentEmails(1);
    const [engine] = instances() as [Engine];
    await rowsOf(store.database, `select 1`);
    const killer = postgres(store.url as string, { max: 1, onnotice: () => {} });
    await killer`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await killer.end();
    const healing = await livedMsBeside(store.url as string, () =>
      eventually(
        'an event is taken again',
        async () => (await engine.tell('email', id, opened(NOW))).outcome,
      ),
    );
    expect(healing).toBeLessThan(1_000);
    await eventually('the store is reached again', () => store.database.ping());
    expect(await countOf(store.database, `email_events where email_id = $1 and type = 'opened'`, [id])).toBe(
      1,
    );
  });
});
