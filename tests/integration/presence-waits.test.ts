import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { presenceScene, type Watcher } from '../support/presence-scene.ts';

const scene = presenceScene();
const { openedDatabase, watcher, observed, epochOf, storedEpoch, holderOf, neighbour, watching } = scene;

/** Until an instance waits for the end of that one. */
const waitedFor = ({ presence }: Watcher) =>
  eventually('it is waited for', async () => {
    const waits = await scene.sql`select from pg_locks where locktype = 'advisory' and not granted
      and objid::bigint = ${presence.epoch ?? 0}
      and database = (select oid from pg_database where datname = current_database())`;
    return waits.length > 0 || undefined;
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
  expect(before).toBe(1);
  await eventually('it hears', () => own.news.hears || undefined);
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
  await waitedFor(ending);
  await ending.presence.stop();
  await left.promise;
  expect(own.taken).toEqual([]);
});

test('an instance that waits for no other waits for one as soon as that one says it is here', async () => {
  const own = await watcher(undefined, { waitMs: 600_000 });
  own.presence.expectOthers(true);
  await eventually('it hears', () => own.news.hears || undefined);
  const other = await watcher(undefined, { waitMs: 600_000 });
  other.presence.expectOthers(true);
  await epochOf(other);
  await waitedFor(other);
});

test('of three instances each is awaited by another one', async () => {
  const three = [await watcher(), await watcher(), await watcher()];
  for (const each of three) each.presence.expectOthers(true);
  await eventually('a ring of waits', async () => {
    const waits = await scene.sql<
      { epoch: number }[]
    >`select distinct objid::bigint::integer as epoch from pg_locks
      where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
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
  await scene.sql`select pg_terminate_backend(${await holderOf(own.presence.epoch ?? 0)}, 10000)`;
  await eventually('it hears again', () => states.length > 1 || undefined);
  expect(states.slice(0, 2)).toEqual([false, true]);
  other.news.tell('work');
  await eventually('another notification', () => heard > 1 || undefined);
});

test('a server that ends idle sessions costs an instance its epoch, and it comes back under another', async () => {
  const database = await openedDatabase();
  let opened = 0;
  let isEnding = false;
  const given = observed(database, {});
  const own = await watcher(
    {
      query: given.query,
      session(onNotification) {
        const session = given.session(onNotification);
        opened += 1;
        if (!session || opened > 1) return session;
        return {
          ...session,
          async query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]> {
            if (isEnding) await session.query("set idle_session_timeout = '200ms'", deadlineMs);
            return await session.query<Row>(text, deadlineMs);
          },
        };
      },
    },
    { touchMs: 500 },
  );
  own.presence.expectOthers(true);
  // Not before it has an epoch: a busy machine would take that long to get one.
  const first = await epochOf(own);
  isEnding = true;
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
  const [{ name } = { name: '' }] = await scene.sql<{ name: string }[]>`select current_database() as name`;
  for (const each of settings) await scene.sql.unsafe(`alter database ${name} set ${each}`);
  try {
    await neighbour(8);
    const waits = Promise.withResolvers<string>();
    const onQuery = (text: string) =>
      void (text.includes("set_config('lock_timeout'") && waits.resolve(text));
    const own = await watcher(observed(await openedDatabase(), { onQuery }), { waitMs: 10_000 });
    own.presence.expectOthers(true);
    expect(await waits.promise).toContain(`'lock_timeout', '${ms}'`);
  } finally {
    for (const each of settings) await scene.sql.unsafe(`alter database ${name} reset ${each.split(' ')[0]}`);
  }
});

test('an instance whose session listens elsewhere does not count as one that hears', async () => {
  await neighbour(9);
  const database = await openedDatabase();
  const looks: string[] = [];
  const own = await watcher({
    query: database.query.bind(database),
    session: () =>
      observed(database, {
        onQuery: (text) => void (text.includes('as "isFound"') && looks.push(text)),
      }).session(() => {}),
  });
  own.presence.expectOthers(true);
  await eventually('it has looked twice', () => looks.length > 1 || undefined);
  expect(own.news.hears).toBe(false);
});
