import { expect, test } from 'bun:test';
import { ARRAYS } from '../../src/platform/db/wire/fixed-arrays.ts';
import { embeddedDatabase } from '../support/embedded.ts';

test('the arrays that an embedded database knows are those of its catalogue, and of every column', async () => {
  const database = await embeddedDatabase();
  const listed = ARRAYS.map(([type]) => `(${type})`).join();
  const inCatalogue = await database.query<{ type: number; array: number }>(
    `select t.oid as type, t.typarray as array from (values ${listed}) listed (type) join pg_type t on t.oid = listed.type order by 1`,
  );
  expect(inCatalogue.map(({ type, array }) => [type, array])).toEqual(
    ARRAYS.map(([type, array]) => [type, array]).toSorted(([one = 0], [other = 0]) => one - other),
  );
  const ofColumns = await database.query<{ array: number }>(
    `select distinct t.oid as array from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and t.typcategory = 'A' and a.attnum > 0`,
  );
  const known = ARRAYS.map(([, array]) => array);
  expect(ofColumns.filter(({ array }) => !known.includes(array))).toEqual([]);
  await database.close();
});

test('arrays come and go as they are', async () => {
  const database = await embeddedDatabase();
  const texts = ['plain', 'with "quotes", commas and \\', '{braces}', 'null', ''];
  const [row] = await database.query(
    `select $1::text[] as texts, $2::text[]::integer[] as numbers, $3::text[]::boolean[] as flags, array[timestamptz '2026-11-24 12:00Z'] as times,
       array['{"a":[1]}'::json] as json, array['{"b":null}'::jsonb, null] as jsonb, array['7'::xid8] as transactions, array['a'::name] as names,
       '{}'::text[] as nothing, array[array[1,2],array[3,4]] as nested`,
    [texts, ['1', '-2'], ['true', 'false']],
  );
  expect(row).toEqual({
    texts,
    numbers: [1, -2],
    flags: [true, false],
    times: [new Date('2026-11-24T12:00:00Z')],
    json: [{ a: [1] }],
    jsonb: [{ b: null }, null],
    transactions: ['7'],
    names: ['a'],
    nothing: [],
    nested: [
      [1, 2],
      [3, 4],
    ],
  });
  await database.close();
});
