import { expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Database } from '../../src/platform/db/database.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { HOLDERS, presenceScene } from '../support/presence-scene.ts';

const scene = presenceScene();
const {
  openedDatabase,
  watcher,
  observed,
  epochOf,
  storedEpoch,
  holderOf,
  leaveDead,
  neighbour,
  watching,
  watchedAgain,
} = scene;

test('an epoch whose session has ended is taken up once, by one of those that watch', async () => {
  const [a, b] = [await watcher(), await watcher()];
  for (const each of [a, b]) each.presence.expectOthers(true);
  const kept = [await epochOf(a), await epochOf(b)];
  // A process that dies closes its connections, and opens no other.
  const gone = 5;
  const dying = postgres(scene.store.url ?? '', { max: 1, onnotice: () => {} });
  const [lock] = await scene.sql<{ name: number }[]>`select classid::bigint::integer as name from pg_locks
    where locktype = 'advisory' and mode = 'ExclusiveLock' and objid::bigint = ${kept[0] ?? 0}
      and database = (select oid from pg_database where datname = current_database())`;
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
    await scene.sql.unsafe(`select ${end}(${pid})`);
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
  await scene.sql`select pg_terminate_backend(${await holderOf(first)}, 10000)`;
  const second = await epochOf(own, first);
  expect(await storedEpoch(own.id)).toBe(second);
  await scene.sql`update service_instances set epoch = null where id = ${own.id}`;
  const third = await epochOf(own, second);
  expect(await storedEpoch(own.id)).toBe(third);
  expect(new Set([first, second, third]).size).toBe(3);
  // It lives: what it has in memory is its own.
  expect(own.taken).toEqual([]);
  await eventually('one lock', async () => (await scene.sql.unsafe(HOLDERS)).length === 1 || undefined);
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
    const holders = await scene.sql.unsafe(HOLDERS);
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
  const own = await watcher({ query: scene.store.database.query.bind(scene.store.database), session });
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
    async () => ({ query: scene.store.database.query.bind(scene.store.database), session: () => null }),
  ],
  [
    'on the embedded database',
    async () => scene.open.adopt(await embeddedDatabase(), (made) => made.close()),
  ],
])('%s there is no session: claims and leases stay the bound', async (_, database) => {
  const given = await database();
  const own = await watcher(given);
  own.presence.expectOthers(true);
  await own.presence.stop();
  expect([own.presence.epoch, given.session()]).toEqual([null, null]);
});
