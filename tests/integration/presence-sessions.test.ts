import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import { News } from '../../src/engine/news.ts';
import { LOCKS, Presence, type PresenceParts } from '../../src/engine/presence.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { postgresStore, type Store } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

let store: Store;
let sql: postgres.Sql;
let open: AsyncDisposableStack;
beforeAll(async () => {
  store = await postgresStore();
  sql = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await store[Symbol.asyncDispose]();
});
beforeEach(async () => {
  open = new AsyncDisposableStack();
  await sql`truncate service_instances, emails, email_turns, email_due`;
});
afterEach(() => open.disposeAsync());

interface Watcher {
  readonly id: string;
  readonly news: News;
  readonly presence: Presence;
  readonly taken: number[];
}

type Given = Pick<Database, 'query' | 'session'>;

async function openedDatabase(): Promise<PostgresDatabase> {
  const database = await PostgresDatabase.open(store.url ?? '');
  open.defer(() => database.close());
  return database;
}

/** An instance that looks at once, unless the parts say otherwise. */
async function watcher(given?: Given, parts: Partial<PresenceParts> = {}): Promise<Watcher> {
  const database = given ?? (await openedDatabase());
  const id = crypto.randomUUID();
  await sql`insert into service_instances (id, roles, seen_at) values (${id}, '{}', now())`;
  const taken: number[] = [];
  const news = new News({ database, id, hasOthers: () => true });
  const presence = new Presence({
    ...{ database, id, logger: pino({ level: 'silent' }), monotonic: () => performance.now() },
    news,
    takeUp: async (epochs) => taken.push(...epochs),
    onLeft: () => {},
    ...{ lookAfterMs: 0, waitMs: 300 },
    ...parts,
  });
  open.defer(() => presence.stop());
  return { id, news, presence, taken };
}

/** Sessions of a database, at whose statements and closes a test looks. */
const observed = (
  database: Database,
  { onQuery, onClose }: { onQuery?(text: string): void; onClose?(hasHeld: boolean): Promise<void> },
): Given => ({
  query: database.query.bind(database),
  session(onNotification) {
    const real = database.session(onNotification);
    if (!real) return null;
    let hasHeld = false;
    return {
      ended: real.ended,
      async query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]> {
        hasHeld ||= text.includes('pg_try_advisory_lock(');
        onQuery?.(text);
        return await real.query<Row>(text, deadlineMs);
      },
      async close() {
        await onClose?.(hasHeld);
        await real.close();
      },
    };
  },
});

const epochOf = ({ presence }: Watcher, former: number | null = null): Promise<number> =>
  eventually('an epoch', () => (presence.epoch === former ? undefined : (presence.epoch ?? undefined)));
const storedEpoch = async (id: string) =>
  (await sql`select epoch from service_instances where id = ${id}`)[0]?.epoch ?? null;
const HOLDERS = `select pid, objid::bigint::integer as epoch from pg_locks
  where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;
const holderOf = async (epoch: number): Promise<number> => {
  const found = await sql.unsafe<{ pid: number; epoch: number }[]>(HOLDERS);
  return found.find((one) => one.epoch === epoch)?.pid ?? 0;
};

/** A dead instance with that epoch: the lock of it is free. */
const leaveDead = (epoch: number) =>
  sql`insert into service_instances (id, roles, seen_at, epoch) values (${`dead ${epoch}`}, '{}', now(), ${epoch})`;

/** Another instance that lives: its row, and the session that holds its lock. */
async function neighbour(epoch: number): Promise<{ die(): Promise<void> }> {
  const session = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
  open.defer(() => session.end());
  await session`select pg_advisory_lock(${LOCKS}, ${epoch})`;
  await sql`insert into service_instances (id, roles, seen_at, epoch) values (${`live ${epoch}`}, '{}', now(), ${epoch})`;
  return { die: () => session.end() };
}

/** The statements that watch at the moment, with a transaction that began after each of them. */
const watching = () => sql<
  { pid: number; began: string; xmin: string | null; next: string }[]
>`select pid, query_start::text as began, backend_xmin::text as xmin, pg_current_xact_id()::text as next
  from pg_stat_activity where query like 'do $$ begin%pg_advisory_xact_lock_shared%' and state = 'active'
    and datname = current_database()`;

/** Waits until that many sessions have each begun to watch again, twice. */
async function watchedAgain(sessions: number): Promise<void> {
  const seen = new Map<number, Set<string>>();
  await eventually('all have watched again', async () => {
    for (const { pid, began } of await watching()) seen.set(pid, (seen.get(pid) ?? new Set()).add(began));
    return [...seen.values()].filter(({ size }) => size > 2).length >= sessions || undefined;
  });
}

test('an epoch whose session has ended is taken up once, by one of those that watch', async () => {
  const [a, b] = [await watcher(), await watcher()];
  for (const each of [a, b]) each.presence.expectOthers(true);
  const kept = [await epochOf(a), await epochOf(b)];
  // A process that dies closes its connections, and opens no other.
  const gone = 5;
  const dying = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
  const [lock] = await sql<{ name: number }[]>`select classid::bigint::integer as name from pg_locks
    where locktype = 'advisory' and mode = 'ExclusiveLock' and objid::bigint = ${kept[0] ?? 0}`;
  await dying`select pg_advisory_lock(${lock?.name ?? 0}, ${gone})`;
  await leaveDead(gone);
  await watchedAgain(2);
  expect([...a.taken, ...b.taken]).toEqual([]);
  await dying.end();
  await eventually('the epoch is taken up', () => [...a.taken, ...b.taken].length > 0 || undefined);
  await watchedAgain(2);
  expect(await storedEpoch(`dead ${gone}`)).toBeNull();
  expect([...a.taken, ...b.taken]).toEqual([gone]);
  expect([a.presence.epoch, b.presence.epoch]).toEqual(kept);
});

test('an error of the watcher, of the search and of the take-up costs no epoch, and what was found is tried again', async () => {
  const database = await openedDatabase();
  let errors: string[] = [];
  const failOnce = (what: string) => {
    if (!errors.includes(what)) return;
    errors = errors.filter((one) => one !== what);
    throw new Error(`The ${what} fails.`);
  };
  const taken: number[] = [];
  const query: Database['query'] = async (...asked) => {
    failOnce('search');
    return await database.query(...asked);
  };
  await neighbour(3);
  const own = await watcher(
    { query, session: (onNotification) => database.session(onNotification) },
    {
      takeUp: async (epochs) => {
        failOnce('take-up');
        return taken.push(...epochs);
      },
    },
  );
  own.presence.expectOthers(true);
  const epoch = await epochOf(own);
  const holder = await holderOf(epoch);
  for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
    const [{ pid } = { pid: 0 }] = await eventually('it watches', async () => {
      const found = await watching();
      return found.length > 0 ? found : undefined;
    });
    await sql.unsafe(`select ${end}(${pid})`);
    await eventually('another session watches', async () =>
      (await watching()).some((one) => one.pid !== pid) ? true : undefined,
    );
  }
  errors = ['search', 'take-up'];
  await leaveDead(7);
  await eventually('the epoch is taken up', () => taken.length > 0 || undefined);
  expect([errors, taken]).toEqual([[], [7]]);
  expect(own.presence.epoch).toBe(epoch);
  expect(await storedEpoch(own.id)).toBe(epoch);
  expect(await holderOf(epoch)).toBe(holder);
});

test('a session that answers no more leaves its epoch before it is closed, and one that fails once keeps it', async () => {
  const database = await openedDatabase();
  const touches: string[] = [];
  let fails = 1;
  const leftAtClose: (number | null)[] = [];
  const given = observed(database, {
    onQuery(text) {
      if (text !== 'select 1') return;
      touches.push(text);
      if (fails-- > 0) throw new Error('Canceled.');
    },
    async onClose(hasHeld) {
      if (hasHeld) leftAtClose.push(await storedEpoch(own.id));
    },
  });
  const own = await watcher(given, { touchMs: 10 });
  own.presence.expectOthers(true);
  const first = await epochOf(own);
  await eventually('touches after the one that failed', () => touches.length > 3 || undefined);
  expect([own.presence.epoch, leftAtClose]).toEqual([first, []]);
  fails = 2;
  await epochOf(own, first);
  expect(leftAtClose).toEqual([null]);
});

test('an instance looks at the others only once they have had time for sessions, as after a restart of the server', async () => {
  const database = await openedDatabase();
  const asked: string[] = [];
  const given = observed(database, { onQuery: (text) => void asked.push(text) });
  const first = await watcher(given, { lookAfterMs: 100_000, touchMs: 10 });
  const other = await watcher();
  await leaveDead(9);
  first.presence.expectOthers(true);
  await epochOf(first);
  await eventually('it touches', () => asked.filter((text) => text === 'select 1').length > 2 || undefined);
  expect(asked.some((text) => text.includes('as "isFound"'))).toBe(false);
  expect(await storedEpoch('dead 9')).toBe(9);
  other.presence.expectOthers(true);
  await eventually('the other takes it up', () => other.taken.includes(9) || undefined);
  expect(first.taken).toEqual([]);
});

test('the end of a session is noticed by the statement that waits for it, and no other is sent meanwhile', async () => {
  const dying = await neighbour(4);
  const asked: string[] = [];
  const left = Promise.withResolvers<void>();
  const given = observed(await openedDatabase(), { onQuery: (text) => void asked.push(text) });
  const own = await watcher(given, { waitMs: 600_000, onLeft: () => left.resolve() });
  own.presence.expectOthers(true);
  await eventually('it waits', async () => (await watching()).length > 0 || undefined);
  const before = asked.filter((text) => text.includes('as "isFound"')).length;
  expect([before, own.news.hears]).toEqual([1, true]);
  await dying.die();
  await left.promise;
  await eventually('the epoch is taken up', () => own.taken.length > 0 || undefined);
  expect(own.taken).toEqual([4]);
});

test('an instance that ends in order is noticed at once, and nothing of it is taken up', async () => {
  const ending = await watcher();
  const left = Promise.withResolvers<void>();
  const own = await watcher(undefined, { waitMs: 600_000, onLeft: () => left.resolve() });
  ending.presence.expectOthers(true);
  await epochOf(ending);
  own.presence.expectOthers(true);
  await eventually('it waits', async () => {
    const waits = await sql`select from pg_locks where locktype = 'advisory' and not granted
      and objid::bigint = ${ending.presence.epoch ?? 0}`;
    return waits.length > 0 || undefined;
  });
  await ending.presence.stop();
  await left.promise;
  expect(own.taken).toEqual([]);
});

test('of three instances each is awaited by another one', async () => {
  const three = [await watcher(), await watcher(), await watcher()];
  for (const each of three) each.presence.expectOthers(true);
  await eventually('a ring of waits', async () => {
    const waits = await sql<{ epoch: number }[]>`select distinct objid::bigint::integer as epoch from pg_locks
      where locktype = 'advisory' and not granted`;
    const epochs = three.map(({ presence }) => presence.epoch);
    return epochs.every((epoch) => waits.some((one) => one.epoch === epoch)) || undefined;
  });
});

test('an instance hears what others tell and not what it tells itself, as long as its session lasts', async () => {
  await neighbour(6);
  const [own, other] = [await watcher(), await watcher()];
  let heard = 0;
  own.news.on('work', () => heard++);
  own.presence.expectOthers(true);
  await eventually('it hears', () => own.news.hears || undefined);
  own.news.tell('work');
  other.news.tell('watch');
  other.news.tell('work');
  await eventually('a notification', () => heard > 0 || undefined);
  expect(heard).toBe(1);
  const states: boolean[] = [];
  own.news.onHearing(() => states.push(own.news.hears));
  await sql`select pg_terminate_backend(${await holderOf(own.presence.epoch ?? 0)}, 10000)`;
  await eventually('it hears again', () => states.length > 1 || undefined);
  expect(states.slice(0, 2)).toEqual([false, true]);
  other.news.tell('work');
  await eventually('another notification', () => heard > 1 || undefined);
});

test('a server that ends idle sessions costs an instance its epoch, and it comes back under another', async () => {
  const database = await openedDatabase();
  let opened = 0;
  const given = observed(database, {});
  const own = await watcher({
    query: given.query,
    session(onNotification) {
      const session = given.session(onNotification);
      opened += 1;
      if (!session || opened > 1) return session;
      let isSet = false;
      return {
        ...session,
        async query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]> {
          if (!isSet) await session.query("set idle_session_timeout = '200ms'", deadlineMs);
          isSet = true;
          return await session.query<Row>(text, deadlineMs);
        },
      };
    },
  });
  own.presence.expectOthers(true);
  const first = await epochOf(own);
  const second = await epochOf(own, first);
  expect(await storedEpoch(own.id)).toBe(second);
  expect(own.taken).toEqual([]);
});

test.each([
  ['by default', [], 10_000],
  ['that logs statements of five seconds', ["log_min_duration_statement = '5s'"], 4_000],
  ['that logs waits for locks after a second', ['log_lock_waits = on'], 800],
  ['that ends statements after two seconds', ["transaction_timeout = '2s'"], 1_600],
])('on a server %s an instance waits as long as is neither logged nor ended', async (_, settings, ms) => {
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_database() as name`;
  for (const each of settings) await sql.unsafe(`alter database ${name} set ${each}`);
  try {
    await neighbour(8);
    const waits = Promise.withResolvers<string>();
    const onQuery = (text: string) =>
      void (text.includes("set_config('lock_timeout'") && waits.resolve(text));
    const own = await watcher(observed(await openedDatabase(), { onQuery }), { waitMs: 10_000 });
    own.presence.expectOthers(true);
    expect(await waits.promise).toContain(`'lock_timeout', '${ms}'`);
  } finally {
    for (const each of settings) await sql.unsafe(`alter database ${name} reset ${each.split(' ')[0]}`);
  }
});

test('a free epoch that another instance is just finding makes none look without a pause', async () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  let searches = 0;
  const own = await watcher({
    async query<Row extends object>(): Promise<Row[]> {
      searches += 1;
      await turn();
      return [{ epoch: 1, isGone: false }] as unknown as Row[];
    },
    session: () => ({
      async query<Row extends object>(): Promise<readonly Row[]> {
        await turn();
        return [{}] as Row[];
      },
      ended: new Promise<void>(() => {}),
      close: async () => {},
    }),
  });
  own.presence.expectOthers(true);
  await eventually('a search', () => searches > 0 || undefined);
  for (let n = 0; n < 1_000; n++) await turn();
  // Without a pause it is one in each two turns.
  expect(searches).toBeLessThan(100);
});

test('a beat that comes after the stop opens no session', async () => {
  const database = await openedDatabase();
  let opened = 0;
  const session = () => {
    opened += 1;
    return database.session();
  };
  const own = await watcher({ query: database.query.bind(database), session });
  own.presence.expectOthers(true);
  await epochOf(own);
  await own.presence.stop();
  const before = opened;
  own.presence.expectOthers(true);
  // Without a session under way it would be opened before any timer.
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(opened).toBe(before);
  expect([own.presence.epoch, await storedEpoch(own.id)]).toEqual([null, null]);
});

test('an instance that loses its session, or its epoch to another, opens another one under another epoch', async () => {
  const own = await watcher();
  own.presence.expectOthers(true);
  const first = await epochOf(own);
  await sql`select pg_terminate_backend(${await holderOf(first)}, 10000)`;
  const second = await epochOf(own, first);
  expect(await storedEpoch(own.id)).toBe(second);
  await sql`update service_instances set epoch = null where id = ${own.id}`;
  const third = await epochOf(own, second);
  expect(await storedEpoch(own.id)).toBe(third);
  expect(new Set([first, second, third]).size).toBe(3);
  // It lives: what it has in memory is its own.
  expect(own.taken).toEqual([]);
  await eventually('one lock', async () => (await sql.unsafe(HOLDERS)).length === 1 || undefined);
});

test('an instance that is alone has no session, and leaves none when the others are gone', async () => {
  const database = await openedDatabase();
  let opened = 0;
  const session = () => {
    opened += 1;
    return database.session();
  };
  const own = await watcher({ query: database.query.bind(database), session });
  own.presence.expectOthers(false);
  expect([own.presence.epoch, opened]).toEqual([null, 0]);
  own.presence.expectOthers(true);
  const first = await epochOf(own);
  own.presence.expectOthers(false);
  expect(own.presence.epoch).toBeNull();
  await eventually('no epoch and no lock', async () => {
    const holders = await sql.unsafe(HOLDERS);
    return (holders.length === 0 && (await storedEpoch(own.id)) === null) || undefined;
  });
  own.presence.expectOthers(true);
  expect(await epochOf(own)).not.toBe(first);
});

test('a stop does not wait for a session that never answers', async () => {
  const asked = Promise.withResolvers<void>();
  const session = () => ({
    query(text: string) {
      if (!text.includes('pg_try_advisory_lock')) return Promise.reject(new Error('The session is lost.'));
      asked.resolve();
      return new Promise<never>(() => {});
    },
    ended: new Promise<void>(() => {}),
    close: async () => {},
  });
  const own = await watcher({ query: store.database.query.bind(store.database), session });
  own.presence.expectOthers(true);
  await asked.promise;
  await own.presence.stop();
  expect(own.presence.epoch).toBeNull();
});

test('watching keeps no old snapshot, which would keep VACUUM from removing rows', async () => {
  await neighbour(2);
  const own = await watcher();
  own.presence.expectOthers(true);
  await epochOf(own);
  // A transaction that began after some statement had begun to watch.
  const [{ next: later } = { next: '' }] = await eventually('it watches', async () => {
    const found = await watching();
    return found.some(({ xmin }) => xmin !== null) ? found : undefined;
  });
  await eventually('a later snapshot', async () => {
    const found = await watching();
    const isLater = ({ xmin }: (typeof found)[number]) => xmin !== null && BigInt(xmin) > BigInt(later);
    return (found.length > 0 && found.every(isLater)) || undefined;
  });
});

test.each([
  [
    'behind a pooler',
    async () => ({ query: store.database.query.bind(store.database), session: () => null }),
  ],
  ['on the embedded database', async () => open.adopt(await embeddedDatabase(), (made) => made.close())],
])('%s there is no session: claims and leases stay the bound', async (_, database) => {
  const given = await database();
  const own = await watcher(given);
  own.presence.expectOthers(true);
  await own.presence.stop();
  expect([own.presence.epoch, given.session()]).toEqual([null, null]);
});
