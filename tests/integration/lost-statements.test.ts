import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { and, arrayContains, eq, gte, inArray, sql } from 'drizzle-orm';
import type { Parameter } from '../../src/platform/db/database.ts';
import { PREPARED } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { emailDue, emails } from '../../src/platform/db/schema/emails.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { codeOf } from '../../src/platform/db/sqlstate.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// A server may forget the statements that a connection has prepared: a pooler handed out another backend, or
// a person discarded them. The driver prepares and sends such a statement again by itself, and must send the
// same values.

let made: TestDatabase;
let database: PostgresDatabase;
beforeAll(async () => {
  made = await createTestDatabase();
});
afterAll(() => made.close());
// Once a statement was forgotten, a database does without for a while: each test begins with one that keeps
// them.
beforeEach(async () => {
  database = await PostgresDatabase.open(made.url);
});
afterEach(() => database.close());

/** More than there are connections, so that each of them takes part. */
const EVERYWHERE = 16;
const FORGET = ['deallocate all', 'discard all'] as const;

const everywhere = <T>(work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: EVERYWHERE }, work));

/** Has every connection forget: an idle one is given out before a busy one. */
async function forget(statement: (typeof FORGET)[number]): Promise<void> {
  await everywhere(() => database.script(statement));
  await everywhere(() => database.read((orm) => orm.execute(sql.raw(statement))));
}

const ODD_TEXTS = ['a', 'b"c', 'd,e', '{}', 'NULL', '', 'ü\\', "it's", '{"k":1}'];
const OBJECT = { text: 'a "quoted" \\ text', list: [1, null, true], nested: { empty: {} } };

const FORMS: readonly (readonly [name: string, text: string, parameters: Parameter[], expected: unknown])[] =
  [
    ['a text', 'select $1::text as got', ['it"s \\ {a}'], 'it"s \\ {a}'],
    ['a text that looks like JSON', 'select $1::text as got', ['{"a":"b"}'], '{"a":"b"}'],
    ['a null', 'select $1::text as got', [null], null],
    ['a whole number', 'select $1::integer as got', [42], 42],
    ['a fraction', 'select $1::float8 as got', [0.5], 0.5],
    ['a large number', 'select $1::bigint::text as got', [9_007_199_254_740_991], '9007199254740991'],
    ['true', 'select $1::boolean as got', [true], true],
    ['false', 'select $1::boolean as got', [false], false],
    ['true without a cast', `select case when $1 then 'yes' else 'no' end as got`, [true], 'yes'],
    ['texts', 'select $1::text[] as got', [ODD_TEXTS], ODD_TEXTS],
    ['no texts', 'select $1::text[] as got', [[]], []],
    ['JSON by way of text', 'select $1::text::json as got', [JSON.stringify(OBJECT)], OBJECT],
    ['JSON', 'select $1::json as got', [JSON.stringify(OBJECT)], OBJECT],
    ['JSONB', 'select $1::jsonb as got', [JSON.stringify(OBJECT)], OBJECT],
    [
      'a moment',
      'select extract(epoch from $1::timestamptz)::integer as got',
      ['2026-11-22T04:00:00.000Z'],
      1_795_320_000,
    ],
    ['bytes', `select encode($1::bytea, 'hex') as got`, ['\\x00ff'], '00ff'],
    ['a transaction id', 'select $1::xid8::text as got', ['18446744073709551615'], '18446744073709551615'],
  ];

describe.each(FORGET)('after `%s`', (how) => {
  test('parameters of every form arrive as they were given', async () => {
    const ask = async (): Promise<unknown> =>
      Promise.all(
        FORMS.map(async ([name, text, parameters]) => [
          name,
          (await database.query<{ got: unknown }>(text, parameters))[0]?.got,
        ]),
      );
    const given = FORMS.map(([name, , , expected]) => [name, expected]);
    expect(await everywhere(ask)).toEqual(Array(EVERYWHERE).fill(given));
    await forget(how);
    expect(await everywhere(ask)).toEqual(Array(EVERYWHERE).fill(given));
  });

  test.each([
    ['prepared', PREPARED],
    ['not prepared', {}],
  ] as const)('a %s query of Drizzle writes and finds the same', async (_name, options) => {
    const at = Date.now();
    const write = async () => {
      const id = mintId('em', at);
      await database.read(
        (orm) =>
          orm.insert(emails).values({
            state: 'sent',
            context: OBJECT,
            machineVersion: 1,
            commitTag: 0,
            steps: [],
            at: new Date(),
            recipients: [],
            recipientKeys: [],
            id,
            workspaceId: 'ws_lost',
            livemode: true,
            senderKey: 'a@b.co',
            subject: 'It"s',
            tags: ODD_TEXTS,
            envelope: OBJECT,
            content: Buffer.from('packed'),
          }),
        options,
      );
      const [found] = await database.read(
        (orm) =>
          orm
            .select()
            .from(emails)
            .where(
              and(
                inArray(emails.id, [id, 'nobody']),
                eq(emails.livemode, true),
                arrayContains(emails.tags, ['b"c', 'd,e']),
              ),
            ),
        options,
      );
      return { tags: found?.tags, envelope: found?.envelope, content: found?.content.toHex() };
    };
    const same = { tags: ODD_TEXTS, envelope: OBJECT, content: Buffer.from('packed').toHex() };
    expect(await everywhere(write)).toEqual(Array(EVERYWHERE).fill(same));
    await forget(how);
    expect(await everywhere(write)).toEqual(Array(EVERYWHERE).fill(same));
  });

  test.each([
    ['prepared', PREPARED],
    ['not prepared', {}],
  ] as const)('a moment of a %s query of Drizzle is compared as it was given', async (_name, options) => {
    const due = () =>
      database.read((orm) => orm.select().from(emailDue).where(gte(emailDue.wakeAt, new Date())), options);
    expect((await everywhere(due)).flat()).toEqual([]);
    await forget(how);
    expect((await everywhere(due)).flat()).toEqual([]);
  });

  test('what then fails, fails for its own reason', async () => {
    await database.query('create table if not exists once (n integer primary key)');
    await database.query('insert into once values (1) on conflict do nothing');
    const again = () =>
      database.query('insert into once values ($1::integer)', [1]).then(
        () => 'stored',
        (error: unknown) => codeOf(error),
      );
    expect(await everywhere(again)).toEqual(Array(EVERYWHERE).fill('23505'));
    await forget(how);
    expect(await everywhere(again)).toEqual(Array(EVERYWHERE).fill('23505'));
  });
});

test('a table that has changed since is read as it is now', async () => {
  await database.query('create table changing (a integer)');
  await database.query('insert into changing values (1)');
  const read = () => database.query('select * from changing where a = $1', [1]);
  expect(await everywhere(read)).toEqual(Array(EVERYWHERE).fill([{ a: 1 }]));
  await database.query('alter table changing add column b text');
  expect(await everywhere(read)).toEqual(Array(EVERYWHERE).fill([{ a: 1, b: null }]));
});
