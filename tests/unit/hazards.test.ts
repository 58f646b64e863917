import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Cron } from 'croner';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { assign, getInitialSnapshot, initialTransition, setup, transition } from 'xstate';
import { createTestModel } from 'xstate/graph';
import type { EmbeddedDatabase } from '../../src/platform/db/embedded/embedded.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// Surprises of the pieces below us that the code relies on, or works around. A test here that fails after an
// upgrade says that a line somewhere has lost its reason, or its ground.

let made: TestDatabase;
let sql: postgres.Sql;
let database: PostgresDatabase;
let embedded: EmbeddedDatabase;
beforeAll(async () => {
  made = await createTestDatabase();
  sql = connect();
  database = new PostgresDatabase(made.url);
  embedded = await embeddedDatabase();
});
afterAll(async () => {
  await Promise.all([sql.end({ timeout: 1 }), database.close(), embedded.close()]);
  await made.close();
});

const connect = (options: postgres.Options<Record<string, never>> = {}): postgres.Sql =>
  postgres(made.url, { max: 1, onnotice: () => {}, ...options });

const failure = async (work: PromiseLike<unknown>): Promise<{ code?: string; message: string }> => {
  try {
    await work;
  } catch (error) {
    return error as { code?: string; message: string };
  }
  throw new Error('It did not fail.');
};

describe('postgres.js', () => {
  test('encodes a text parameter once when it is cast to text before json', async () => {
    const value = JSON.stringify({ a: 1 });
    const [right] = await sql.unsafe('select json_typeof($1::text::json) as t', [value], { prepare: true });
    expect(right?.t).toBe('object');
    // Without the first cast the driver makes a JSON string of it.
    const [wrong] = await sql.unsafe('select json_typeof($1::json) as t', [value], { prepare: true });
    expect(wrong?.t).toBe('string');
  });

  test('takes an array of texts as text[]', async () => {
    const odd = ['a', 'b"c', 'd,e', '{}', 'NULL', '', 'ü\\'];
    const [row] = await sql.unsafe('select array_length($1::text[], 1) as n, $1::text[] as back', [odd], {
      prepare: true,
    });
    expect([row?.n, row?.back]).toEqual([odd.length, odd]);
  });

  test('would repeat a forgotten statement with other values, were the routine of its errors not hidden', async () => {
    const one = connect();
    const read = () => one.unsafe('select $1::boolean as yes', [true as never], { prepare: true });
    expect((await read())[0]?.yes).toBe(true);
    await one.unsafe('deallocate all').simple();
    expect((await failure(read())).code).toBe('26000');
    // The same error with its routine: one repetition, and `true` has become `false`.
    const { prototype } = postgres.PostgresError;
    const hidden = Object.getOwnPropertyDescriptor(prototype, 'routine') ?? {};
    Reflect.deleteProperty(prototype, 'routine');
    expect((await read())[0]?.yes).toBe(false);
    Object.defineProperty(prototype, 'routine', hidden);
    await one.end();
  });

  test('answers int8 as text', async () => {
    const [row] = await sql`select 1::int8 as n`;
    expect(row?.n).toBe('1');
  });

  test('begins a result with holes after one that ended half-way; ours closes them', async () => {
    const broken = 'select 1 / (3 - g) as n from generate_series(1, 5) g';
    expect((await failure(sql.unsafe(broken))).code).toBe('22012');
    const holey = await sql.unsafe(`select 'here' as word`);
    expect([holey.length, 0 in holey, holey[2]?.word]).toEqual([3, false, 'here']);

    // Every connection of both pools meets it.
    for (let round = 0; round < 20; round++) {
      expect((await failure(database.query(broken))).code).toBe('22012');
      expect(await database.query(`select 'here' as word`).then((rows) => rows.map((row) => row))).toEqual([
        { word: 'here' },
      ]);
      expect((await failure(database.read((orm) => orm.execute(broken)))).message).toContain('1 /');
      expect(
        await database
          .read((orm) => orm.execute(`select 'here' as word`))
          .then((rows) => Array.from(rows as never)),
      ).toEqual([{ word: 'here' }]);
    }
  });

  /** Kills the backend that sleeps, once it does. */
  const killSleeper = () =>
    eventually('a backend sleeps', async () => {
      const rows = await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query = 'select pg_sleep(9)' and state = 'active'`;
      return rows.length > 0 ? true : undefined;
    });

  test('carries the end of a lost connection over to the statement that reconnects', async () => {
    let neverSent = 0;
    for (let round = 0; round < 50 && neverSent === 0; round++) {
      const other = connect();
      const sleeping = failure(other.unsafe('select pg_sleep(9)'));
      await killSleeper();
      // The server's last word, or a closed or reset socket, whichever is seen first.
      await sleeping;
      // Its connection is gone, so this one can only have gone to a new one, which no one has terminated.
      await other`select 1`.catch((error: { code?: string }) => {
        if (error.code === '57P01') neverSent++;
      });
      await other.end({ timeout: 0 });
    }
    expect(neverSent).toBe(1);
  });

  test('is not trusted with a lost connection by us', async () => {
    for (let round = 0; round < 10; round++) {
      const lost: Promise<unknown> = failure(database.query('select pg_sleep(9)'));
      await killSleeper();
      expect(await lost).toBeInstanceOf(UnavailableError);
      expect([...(await database.query('select 1 as one'))]).toEqual([{ one: 1 }]);
    }
  });

  test('waits in vain at its end for a connection that was lost in mid-query', async () => {
    const other = connect();
    const sleeping = failure(other.unsafe('select pg_sleep(9)'));
    await killSleeper();
    await sleeping;
    const start = performance.now();
    await other.end({ timeout: 0.3 });
    expect(performance.now() - start).toBeGreaterThan(250);
  });

  test('throws at a moment that is no Date, as -infinity; ours sends it as it is', async () => {
    const text = 'select $1::timestamptz::text as at';
    const theirs = connect();
    expect(await failure(theirs.unsafe(text, ['-infinity']))).toBeInstanceOf(RangeError);
    void theirs.end({ timeout: 0 }).catch(() => {});
    expect(await database.query(text, ['-infinity'])).toEqual([{ at: '-infinity' }]);
  });

  test('has its date parser taken away by Drizzle', async () => {
    const other = connect();
    const at = async () => (await other`select '2026-11-20T12:00:00Z'::timestamptz as at`)[0]?.at;
    expect(await at()).toBeInstanceOf(Date);
    const spoilt = connect();
    drizzle(spoilt);
    expect(typeof (await spoilt`select '2026-11-20T12:00:00Z'::timestamptz as at`)[0]?.at).toBe('string');
    await Promise.all([other.end({ timeout: 1 }), spoilt.end({ timeout: 1 })]);
  });
});

describe('PostgreSQL, embedded or not, through our own door', () => {
  const both = () => [database, embedded] as const;

  test('refuses NUL and lone surrogates in JSON that it unfolds', async () => {
    for (const db of both())
      for (const text of ['a\u0000b', 'a\ud800b']) {
        const rows = JSON.stringify([{ data: { text } }]);
        const error = await failure(
          db.query('select * from json_to_recordset($1::text::json) as r(data json)', [rows]),
        );
        expect(['22P05', '22P02']).toContain(error.code as string);
      }
  });

  test('reads JSON given as text the same way', async () => {
    for (const db of both()) {
      const value = JSON.stringify([{ n: 1, t: 'ü', at: '2026-11-20T12:00:00.000Z' }]);
      const rows = await db.query(
        `select n, t, (extract(epoch from at) * 1000)::float8 as ms, to_json(t) as j
         from json_to_recordset($1::text::json) as r(n integer, t text, at timestamptz)`,
        [value],
      );
      expect([...rows]).toEqual([{ n: 1, t: 'ü', ms: Date.parse('2026-11-20T12:00:00.000Z'), j: 'ü' }]);
    }
  });

  test('unfolds no row of a list that is null', async () => {
    for (const db of both())
      expect((await db.query('select * from json_to_recordset(null::json) as r(a integer)')).length).toBe(0);
  });

  test('evaluates a revision again after it has waited for the row', async () => {
    const [a, b] = [connect(), connect()];
    await a`create table if not exists guarded (id integer primary key, revision integer)`;
    await a`insert into guarded values (1, 1) on conflict (id) do update set revision = 1`;
    const holder = await a.reserve();
    await holder`begin`;
    await holder`update guarded set revision = 2 where id = 1`;
    const waiting = b`with locked as materialized (
      select g.id from (values (1, 1)) i(id, revision) join guarded g on g.id = i.id and g.revision = i.revision
      order by g.id for update of g
    ) update guarded set revision = revision + 1 from locked where locked.id = guarded.id returning guarded.id`.execute();
    await eventually('the row is waited for', async () => {
      const held = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return held.length > 0 || undefined;
    });
    await holder`commit`;
    holder.release();
    expect((await waiting).length).toBe(0);
    await Promise.all([a.end({ timeout: 1 }), b.end({ timeout: 1 })]);
  });
});

describe('PGlite', () => {
  test('passes a text parameter to json by way of text as it is', async () => {
    const value = JSON.stringify({ a: 1 });
    // Without the first cast as well: here it differs from postgres.js, and both must be told the same.
    for (const cast of ['$1::text::json', '$1::json'])
      expect([...(await embedded.query(`select json_typeof(${cast}) as t`, [value]))]).toEqual([
        { t: 'object' },
      ]);
  });

  test('takes an array of texts as text[]', async () => {
    const odd = ['a', 'b"c', 'd,e', '{}', 'NULL', '', 'ü\\'];
    const rows = await embedded.query('select array_length($1::text[], 1) as n, $1::text[] as back', [odd]);
    expect([...rows]).toEqual([{ n: odd.length, back: odd }]);
  });
});

describe('XState', () => {
  const machine = setup({
    types: {
      context: {} as { n: number },
      events: {} as { type: 'go' } | { type: 'count' } | { type: 'stay' },
      input: {} as { n: number },
    },
    delays: { soon: ({ context }) => context.n * 1_000 },
    guards: { never: () => false },
  }).createMachine({
    id: 'm',
    context: ({ input }) => ({ n: input.n }),
    initial: 'a',
    on: { count: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
    states: {
      a: { after: { soon: 'b' }, on: { go: 'b', stay: { guard: 'never', target: 'b' } } },
      b: { type: 'final' },
    },
  });
  const [first, actions] = initialTransition(machine, { n: 3 });

  test('hands back the very same snapshot for an event that nothing takes', () => {
    expect(transition(machine, first, { type: 'nothing' } as never)[0]).toBe(first);
    expect(transition(machine, first, { type: 'stay' })[0]).toBe(first);
    expect(transition(machine, first, { type: 'count' })[0]).not.toBe(first);
  });

  test('arms a named delay as a raise with a number and an id that names delay, machine and state', () => {
    expect(actions).toEqual([
      expect.objectContaining({
        type: 'xstate.raise',
        params: expect.objectContaining({
          event: { type: 'xstate.after.soon.m.a' },
          id: 'xstate.after.soon.m.a',
          delay: 3_000,
        }),
      }),
    ]);
  });

  test('disarms it, armed or not, when the state is left', () => {
    const [, left] = transition(machine, first, { type: 'go' });
    expect(left.map(({ type, params }) => [type, (params as { sendId?: string }).sendId])).toEqual([
      ['xstate.cancel', 'xstate.after.soon.m.a'],
    ]);
  });

  test('lets anybody forge a timer', () => {
    expect(transition(machine, first, { type: 'xstate.after.soon.m.a' } as never)[0].value).toBe('b');
  });

  test('resolves a final state as done, and any other as active', () => {
    expect(machine.resolveState({ value: 'b', context: { n: 1 } }).status).toBe('done');
    expect(machine.resolveState({ value: 'a', context: { n: 1 } }).status).toBe('active');
  });

  test('lets a finished machine go on at its root', () => {
    const done = machine.resolveState({ value: 'b', context: { n: 1 } });
    expect(transition(machine, done, { type: 'count' })[0].context.n).toBe(2);
  });

  test('throws for a state that it does not know', () => {
    expect(() => machine.resolveState({ value: 'gone' as never, context: { n: 1 } })).toThrow();
  });

  test('turns a context factory that throws into an error snapshot, not an exception', () => {
    const bad = setup({}).createMachine({
      context: () => {
        throw new Error('a bug');
      },
    });
    expect(getInitialSnapshot(bad).status).toBe('error' as never);
  });

  test('will not build a test model of a machine with delays', () => {
    expect(() => createTestModel(machine)).toThrow('After events');
  });
});

describe('the clocks', () => {
  test('setTimeout fires at once for a wait longer than 32 bits of milliseconds', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const long = setTimeout(resolve, 30 * 24 * 3_600_000, 'at once');
    const short = setTimeout(resolve, 1_000, 'in time');
    expect(await promise).toBe('at once');
    clearTimeout(long);
    clearTimeout(short);
  });

  test('croner ticks at the beginning of a second, and does nothing while it is paused', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    let early = 0;
    const madeAt = Date.now();
    const job = new Cron('* * * * * *', { paused: true }, () => {
      early++;
      resolve(Date.now());
    });
    expect(early).toBe(0);
    job.resume();
    const at = await promise;
    const next = job.nextRun();
    job.stop();
    expect(next?.getMilliseconds()).toBe(0);
    // The second that has begun between the two may be the first.
    expect(at).toBeGreaterThanOrEqual((Math.floor(madeAt / 1_000) + 1) * 1_000);
  });

  test('croner refuses a sixth field that is none', () => {
    expect(() => new Cron('61 * * * * *')).toThrow();
  });
});
