import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { columnsOf, InputRows } from '../../src/engine/store/statements/input-rows.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { embeddedStore, postgresStore, type Store } from '../support/engine.ts';

const COLUMNS = columnsOf(
  'n integer, t text, at timestamptz, is boolean, j json, list text[], empty text, nobody json',
);

describe.each([
  ['PGlite', embeddedStore],
  ['PostgreSQL', postgresStore],
])('rows as a relation on %s', (_, open) => {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const through = async (database: Database, rows: readonly Record<string, unknown>[]) => {
    const input = new InputRows(COLUMNS, 2);
    const answered = await database.query<{ row: unknown }>(
      `select to_json(r) as row from (${input.sql}) r where $1::boolean`,
      [true, ...input.parameters(rows)],
    );
    return answered.map(({ row }) => row);
  };

  test('keep arbitrary values unchanged', async () => {
    const texts = [
      '',
      ' ',
      '"',
      '\\',
      "'",
      '{}',
      '{a,b}',
      'NULL',
      'null',
      '\n\r\t',
      '\u0001',
      'ä€😀',
      '$1',
      '\\N',
    ];
    const marked = ['\u001e', '\u001f', 'a\u001fb', '\u001e\u001f\u001e'];
    for (const hostile of [texts, marked, [...texts, ...marked]]) {
      const rows = hostile.map((t, n) => ({
        n,
        t,
        at: '2026-11-20T12:00:00+00:00',
        is: n % 2 === 0,
        j: { [t]: [t, null, n] },
        list: [t, t],
        empty: n === 0 ? '' : null,
        nobody: null,
      }));
      expect(await through(store.database, rows)).toEqual(rows);
    }
  });

  test('come out with U+FFFD for what PostgreSQL refuses, and with what only looks like it as it was', async () => {
    const none = { at: null, is: null, empty: null, nobody: null };
    const texts = ['\0', 'a\0\u001fb', '\ud83d', '😀\ude00', '\\u0000', '\\\0', '\\ud83d'];
    const kept = ['\uFFFD', 'a\uFFFD\u001fb', '\uFFFD', '😀\uFFFD', '\\u0000', '\\\uFFFD', '\\ud83d'];
    const rowOf = (t: string, n: number) => ({ ...none, n, t, j: { [`n${t}`]: [t] }, list: ['', t] });
    expect(await through(store.database, texts.map(rowOf))).toEqual(kept.map(rowOf));
  });

  test('may leave columns out, the first one only where there is no row', async () => {
    const none = { n: 1, t: null, at: null, is: null, j: null, list: null, empty: null, nobody: null };
    expect(await through(store.database, [{ n: 1 }, { n: 1, unknown: 'x', list: [] }, {}, { n: 1 }])).toEqual(
      [none, { ...none, list: [] }, none],
    );
    expect(await through(store.database, [])).toEqual([]);
  });

  test('keep an empty text apart from none, be it alone', async () => {
    const row = { n: 1, t: '', at: null, is: null, j: '', list: [''], empty: '', nobody: null };
    expect(await through(store.database, [row])).toEqual([row]);
  });
});
