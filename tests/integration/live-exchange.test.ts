import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import type { CommitListener } from '../../src/engine/engine.ts';
import type { Draft } from '../../src/engine/machine/draft.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import type { Scope } from '../../src/engine/machine/result.ts';
import { News } from '../../src/engine/news.ts';
import type { Database, Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { HEAR, MOST_WATCHED, TELL } from '../../src/web/live/exchange/exchange-statements.ts';
import type { InstanceNews } from '../../src/web/live/exchange/incoming.ts';
import { LiveExchange } from '../../src/web/live/exchange/live-exchange.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// Instances tell each other what viewers watch and what was committed: the statements on a real server, the
// engines played.

const TEST = { workspaceId: 'ws_1', livemode: false };
const email = { name: 'email' } as Kind;

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let sql: postgres.Sql;
const open: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await PostgresDatabase.open(testDatabase.url);
  // A pooler may stand before the database.
  sql = postgres(testDatabase.url, { max: 2, prepare: false });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.stop()));
  await sql`truncate live_watches, live_news`;
});
afterAll(async () => {
  await sql.end();
  await database.close();
  await testDatabase.close();
});

/** A fault of a statement: it answers as without it. */
type Befalls = (text: string, run: () => Promise<object[]>) => Promise<object[]>;

/** An instance with an engine that commits what the test says. */
function instance(befalls: Befalls = (_, run) => run()) {
  const id = crypto.randomUUID();
  const listeners = new Set<CommitListener>();
  const roster = {
    id,
    version: '1.0.0',
    runsMs: 0,
    watch: () => {},
    hearsAll: false,
    news: new News({ database, id, hasOthers: () => true }),
    instances: [
      { id, roles: ['http'] },
      { id: 'another', roles: ['http'] },
    ],
  };
  const statements: string[] = [];
  const exchange = new LiveExchange({
    database: {
      kind: 'postgres',
      query: (text: string, parameters: readonly Parameter[], options: QueryOptions) => {
        statements.push(text);
        return befalls(text, () => database.query(text, parameters, options));
      },
    } as never as Database,
    engine: {
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    roster,
    logger: pino({ level: 'silent' }),
    now: () => Date.now(),
    monotonic: () => performance.now(),
    pace: { idle: 50, busy: 50, tidy: 200 },
  });
  exchange.start();
  open.push(exchange);
  return {
    id,
    exchange,
    listeners,
    statements,
    /** Commits so many transitions of as many emails. */
    commit(count = 1, scope: Scope = TEST): void {
      const drafts = Array.from({ length: count }, (_, index) => ({
        after: { id: `em_${scope.workspaceId}_${scope.livemode}_${index}`, ...scope },
        steps: [{ from: null, event: 'spawned', to: 'sending', at: 1, attempt: null, effects: [] }],
      })) as never as Draft[];
      for (const listener of listeners) listener(email, drafts);
    },
    /** Resolves once it has heard of a viewer elsewhere. */
    follows: () => eventually('it follows', () => (listeners.size > 0 ? true : undefined)),
  };
}

/** A viewer of an environment, and what it was told. */
function watch({ exchange }: { readonly exchange: LiveExchange }, scope: Scope = TEST) {
  const heard: InstanceNews[] = [];
  const leave = exchange.join(scope, (one) => void heard.push(one));
  const sum = (of: 'times' | 'missed', from?: string) =>
    heard
      .filter((one) => from === undefined || one.instance === from)
      .reduce((total, one) => total + ((of === 'times' ? one.news.times : one.missed).email ?? 0), 0);
  return {
    heard,
    leave,
    times: (from?: string) => sum('times', from),
    missed: () => sum('missed'),
    hears: (times: number) =>
      eventually(`${times} are heard`, () => (sum('times') >= times ? true : undefined)),
  };
}

describe('instances on one database', () => {
  test('get the commits of each other where a viewer watches, once and with the author', async () => {
    const [a, b, c] = [instance(), instance(), instance()];
    const viewer = watch(a);
    await Promise.all([b.follows(), c.follows()]);
    for (let round = 1; round <= 3; round++) {
      b.commit(2);
      c.commit(5);
      await viewer.hears(7 * round);
    }
    expect([viewer.times(b.id), viewer.times(c.id), viewer.missed()]).toEqual([6, 15, 0]);
    // Its own commits reach a viewer without this way.
    expect(a.listeners.size).toBe(0);
  });

  test('tell an environment nothing of another one, be it the other of its workspace', async () => {
    const [a, b] = [instance(), instance()];
    const live = { ...TEST, livemode: true };
    const other = { workspaceId: 'ws_2', livemode: false };
    const viewers = [TEST, live, other].map((scope) => watch(a, scope));
    await b.follows();
    await eventually('each is heard', () => {
      b.commit(1, TEST);
      b.commit(1, live);
      b.commit(1, { workspaceId: 'ws_3', livemode: false });
      b.commit(1, other);
      return viewers.every(({ heard }) => heard.length > 0) || undefined;
    });
    expect(
      viewers.map(({ heard }) => [
        ...new Set(heard.flatMap(({ news }) => news.sample.map(({ id }) => id.replace(/_0$/, '')))),
      ]),
    ).toEqual([['em_ws_1_false'], ['em_ws_1_true'], ['em_ws_2_false']]);
    const rows = await sql`select distinct workspace_id as id from live_news where workspace_id = 'ws_3'`;
    expect([...rows]).toEqual([]);
  });

  test('write nothing without a viewer, and stop when the last one has left', async () => {
    const [a, b] = [instance(), instance()];
    await eventually('both have looked', () =>
      a.statements.length > 0 && b.statements.length > 0 ? true : undefined,
    );
    b.commit(10);
    expect(new Set([...a.statements, ...b.statements]).size).toBe(1);
    const viewer = watch(a);
    await b.follows();
    b.commit();
    await viewer.hears(1);
    viewer.leave();
    await eventually('no listener is left', () => (b.listeners.size === 0 ? true : undefined));
    expect([...(await sql`select from live_watches`)]).toEqual([]);
  });

  test('show a viewer that comes later nothing of what was before', async () => {
    const [a, b, c] = [instance(), instance(), instance()];
    const first = watch(a);
    await b.follows();
    b.commit(40);
    await first.hears(40);
    const second = watch(c);
    await eventually('it is known', async () => {
      const [row] = await sql`select count(*)::integer as n from live_watches`;
      return row?.n === 2 || undefined;
    });
    const looks = () => c.statements.filter((text) => text === HEAR).length;
    const before = looks();
    // The second look has read what was there at the first.
    await eventually('it has looked', () => looks() > before + 1 || undefined);
    b.commit(2);
    await second.hears(2);
    expect([second.times(), second.missed()]).toEqual([2, 0]);
  });
});

describe('what could be missed', () => {
  test('a commit that is late, behind later ones of another instance, is heard', async () => {
    const [a, b, c] = [instance(), instance(), instance()];
    const viewer = watch(a);
    await Promise.all([b.follows(), c.follows()]);
    // The row of b waits behind one that has its key, and is never committed.
    const held = await sql.reserve();
    await held`begin`;
    await held`insert into live_news values ('ws_1', false, ${b.id}, 0, clock_timestamp(), '{}')`;
    b.commit(3);
    await eventually('b waits', async () => {
      const [row] = await sql`select count(*)::integer as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%live_news%'`;
      return (row?.n ?? 0) > 0 || undefined;
    });
    c.commit(2);
    await viewer.hears(2);
    b.commit(4);
    await held`rollback`;
    held.release();
    await viewer.hears(9);
    expect([viewer.times(b.id), viewer.times(c.id), viewer.missed()]).toEqual([7, 2, 0]);
  });

  for (const [name, isRun] of [
    ['was carried out', true],
    ['was not', false],
  ] as const)
    test(`a statement whose reply was lost is said again: one that ${name} is heard once`, async () => {
      let isLost = false;
      const a = instance();
      const b = instance(async (text, run) => {
        if (text !== TELL || isLost) return run();
        isLost = true;
        if (isRun) await run();
        throw new UnavailableError('The connection is lost.');
      });
      const viewer = watch(a);
      await b.follows();
      b.commit(3);
      await viewer.hears(3);
      expect(isLost).toBe(true);
      b.commit(4);
      await viewer.hears(7);
      expect([viewer.times(), viewer.missed()]).toEqual([7, 0]);
    });

  test('what was not read in time is counted, and said to be missed', async () => {
    let isDeaf = false;
    // A question that was under way is not answered any more either.
    const a = instance(async (text, run) => {
      if (text !== HEAR) return run();
      const rows = isDeaf ? [] : await run();
      return isDeaf ? [] : rows;
    });
    let told = 0;
    const b = instance(async (text, run) => {
      const rows = await run();
      if (text === TELL) told++;
      return rows;
    });
    const viewer = watch(a);
    await b.follows();
    b.commit(1);
    await viewer.hears(1);
    isDeaf = true;
    b.commit(30);
    await eventually('it was told', () => told === 2 || undefined);
    await sql`delete from live_news`;
    isDeaf = false;
    b.commit(2);
    await viewer.hears(3);
    expect([viewer.times(), viewer.missed()]).toEqual([3, 30]);
  });
});

describe('what is left over or too much', () => {
  test('the watches and news of an instance that is gone end with their lease, and go', async () => {
    await sql`insert into live_watches values
      ('ws_1', false, 'gone', now() - interval '1 hour', clock_timestamp() - interval '1 millisecond'),
      ('ws_1', true, 'leapt', now(), clock_timestamp() + interval '1 hour')`;
    await sql`insert into live_news values
      ('ws_1', false, 'gone', 1, clock_timestamp() - interval '31 seconds', '{}'),
      ('ws_1', false, 'leapt', 1, clock_timestamp() + interval '1 hour', '{}')`;
    const a = instance();
    await eventually('nothing is left', async () => {
      const [row] = await sql`select (select count(*) from live_watches)::integer as watches,
        (select count(*) from live_news)::integer as news`;
      return (row?.watches === 0 && row.news === 0) || undefined;
    });
    expect(a.listeners.size).toBe(0);
  });

  test('viewers hear again after a crash of the database, which empties both tables', async () => {
    const [a, b] = [instance(), instance()];
    const viewer = watch(a);
    await b.follows();
    b.commit(2);
    await viewer.hears(2);
    await sql`truncate live_watches, live_news`;
    await eventually('they are heard', () => {
      b.commit();
      return viewer.times() > 3 || undefined;
    });
    expect(a.exchange.completeness(TEST)).toBe('all');
  });

  test('an instance that was killed is heard no more, and its news until then arrive', async () => {
    let isDead = false;
    const a = instance();
    const b = instance((_, run) => (isDead ? Promise.reject(new UnavailableError('It is dead.')) : run()));
    const viewer = watch(a);
    await b.follows();
    b.commit(2);
    await viewer.hears(2);
    isDead = true;
    await sql`update live_news set at = at - interval '31 seconds'`;
    await eventually(
      'nothing of it is left',
      async () => (await sql`select from live_news`).length === 0 || undefined,
    );
    const c = instance();
    await c.follows();
    c.commit(3);
    await viewer.hears(5);
    expect(viewer.times(c.id)).toBe(3);
  });

  /** Environments that others have watched for longer. */
  const crowd = (first: number, last: number) =>
    sql`insert into live_watches
      select 'ws_crowd_' || n, false, 'crowd', now() - interval '1 hour', clock_timestamp() + interval '29 seconds'
      from generate_series(${first}::integer, ${last}::integer) n
      on conflict (workspace_id, livemode, instance_id) do update set until = excluded.until`;

  test('five hundred environments are shown at once', async () => {
    await crowd(2, MOST_WATCHED);
    const [a, b] = [instance(), instance()];
    const viewer = watch(a);
    await eventually('it is heard', async () => {
      await crowd(2, MOST_WATCHED);
      b.commit();
      return viewer.heard.length > 0 || undefined;
    });
    expect(a.exchange.completeness(TEST)).toBe('all');
  });

  test('a viewer beyond them learns so, and gets news again when one has left', async () => {
    await crowd(1, MOST_WATCHED);
    const [a, b] = [instance(), instance()];
    const viewer = watch(a);
    await eventually('the viewer knows', async () => {
      await crowd(1, MOST_WATCHED);
      b.commit();
      return a.exchange.completeness(TEST) === 'crowded' || undefined;
    });
    expect(viewer.heard).toEqual([]);
    await sql`delete from live_watches where instance_id = 'crowd' and workspace_id = 'ws_crowd_1'`;
    await eventually('it is heard', async () => {
      await crowd(2, MOST_WATCHED);
      b.commit();
      return (viewer.heard.length > 0 && a.exchange.completeness(TEST) === 'all') || undefined;
    });
  });

  test('a viewer learns that the database does not answer', async () => {
    let isAway = false;
    const a = instance((_, run) => (isAway ? Promise.reject(new UnavailableError('It is away.')) : run()));
    watch(a);
    isAway = true;
    await eventually('the viewer knows', () => a.exchange.completeness(TEST) === 'away' || undefined);
    isAway = false;
    await eventually('it hears again', () => a.exchange.completeness(TEST) === 'all' || undefined);
  });

  test('an embedded database is asked nothing', async () => {
    const id = crypto.randomUUID();
    const exchange = new LiveExchange({
      database: { kind: 'embedded', query: () => Promise.reject(new Error('asked')) } as never as Database,
      engine: { listen: () => () => {} },
      roster: {
        id,
        version: '1.0.0',
        runsMs: 5,
        watch: () => {},
        hearsAll: true,
        news: new News({ database, id, hasOthers: () => false }),
        instances: [{ id, roles: [] }],
      },
      logger: pino({ level: 'silent' }),
      now: () => 1_000,
      monotonic: () => 0,
    });
    exchange.start();
    exchange.join(TEST, () => {});
    expect(exchange.completeness(TEST)).toBe('all');
    expect(exchange.instances).toEqual([
      { id: id.slice(0, 8), roles: [], version: '1.0.0', startedAt: 995, isThis: true },
    ]);
    await exchange.stop();
  });
});
