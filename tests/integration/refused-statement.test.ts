import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { systemRoutes } from '../../src/http/system/routes.ts';
import { RefusedWrites } from '../../src/platform/db/refused-writes.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { classify } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// A database that is well, and refuses one statement: what it is called decides where an operator looks.

let made: TestDatabase;
let database: PostgresDatabase;
beforeAll(async () => {
  made = await createTestDatabase();
  database = new PostgresDatabase(made.url);
});
afterAll(async () => {
  await database.close();
  await made.close();
});

const refusal = async (work: Promise<unknown>): Promise<UnavailableError> => {
  const error = await work.then(
    () => null,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(UnavailableError);
  return error as UnavailableError;
};

test('a lock that is not to be had is called that', async () => {
  const holder = postgres(made.url, { max: 1 });
  await holder.begin(async (tx) => {
    await tx`lock table emails in access exclusive mode`;
    const error = await refusal(
      database.script(`set local lock_timeout = '10ms'; lock table emails in share mode`),
    );
    expect([error.message, error.applied]).toEqual([
      expect.stringContaining('did not give a lock in time'),
      'no',
    ]);
  });
  await holder.end();
});

test('a statement that takes too long is called that', async () => {
  const error = await refusal(database.script(`set local statement_timeout = '10ms'; select pg_sleep(5)`));
  expect([error.message, error.applied]).toEqual([expect.stringContaining('statement_timeout'), 'no']);
});

test('a database that is read-only is called that', async () => {
  const error = await refusal(database.script('set transaction read only; delete from actor_outbox'));
  expect([error.message, error.applied]).toEqual([expect.stringContaining('read-only'), 'no']);
});

test.each([
  ['53100', 'no room left on its disk'],
  ['53200', 'short of memory'],
  ['53300', 'takes no more connections'],
  ['53400', 'no resources left'],
  ['58030', 'an error of its machine'],
])('%s is called what it is', async (code, says) => {
  const error = await refusal(
    database.script(`do $$ begin raise exception 'as it happens' using errcode = '${code}'; end $$`),
  );
  const { hostname, port, pathname } = new URL(made.url);
  expect(error.message).toStartWith(`The database ${pathname.slice(1)} at ${hostname}:${port} `);
  expect(error.message).toContain(says);
  expect(error.message).toEndWith(`(as it happens, ${code}).`);
  expect(error.applied).toBe('no');
});

test('an error of the statement itself stays what it is', async () => {
  const error = await database.query('select 1 / 0').catch((caught: unknown) => caught);
  expect(error).not.toBeInstanceOf(UnavailableError);
  expect(classify(error)).toBe(error);
});

describe('a database that refuses writes', () => {
  test.each([
    ['53100', 'full'],
    ['25006', 'readOnly'],
  ] as const)('with %s is called %s for ten seconds, or until something is written', async (code, why) => {
    let now = 0;
    const writes = new RefusedWrites(() => now);
    const refusal = Object.assign(new Error('refused'), { code });
    const refuse = () => writes.heed('insert into t values (1)', Promise.reject(refusal)).catch(() => {});
    expect(writes.latest).toBe(null);
    await refuse();
    expect(writes.latest).toBe(why);
    await writes.heed('select 1', Promise.resolve());
    expect(writes.latest).toBe(why);
    now = 9_999;
    expect(writes.latest).toBe(why);
    now = 10_000;
    expect(writes.latest).toBe(null);
    await refuse();
    await writes.heed('with t as (select 1) insert into u select * from t', Promise.resolve());
    expect(writes.latest).toBe(null);
  });

  test('for being read-only is no healthy one', async () => {
    const [health] = systemRoutes({
      readLogLag: async () => 0,
      isDraining: () => false,
      roles: ['http'],
      roster: { living: { http: 1, engine: 1, delivery: 1 } },
      version: '1',
      database: {
        ping: async () => 1,
        query: async () => [],
        refusedWrite: 'readOnly',
        kind: 'postgres',
      } as never,
      clock: systemClock,
      engine: { scheduler: { status: 'ok', oldestDueSeconds: 0, clockSkewMs: 0 } },
      startedAt: 0,
    });
    expect(await health?.handle({} as never)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The database is read-only: no mail can be accepted or sent.',
    });
  });
});
