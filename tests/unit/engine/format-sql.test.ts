import { expect, test } from 'bun:test';
import { formatSql } from '../../../scripts/sql/format.ts';
import { formOf } from '../../../scripts/sql/pages.ts';
import { wakeWriting } from '../../../src/engine/store/statements/wake-at.ts';
import { storeOf } from '../../../src/engine/store/store-of.ts';
import { MODULE_KINDS, withOthers } from '../../../src/modules.ts';
import { systemClock } from '../../../src/platform/time/clock.ts';

/** SQL without the blanks that formatting may change. */
const bare = (sql: string): string =>
  sql
    .replace(/\s+/g, ' ')
    .replace(/ ?([()]) ?/g, '$1')
    .trim();

test('a statement that is formatted differs in blanks alone', () => {
  const wake = wakeWriting(systemClock);
  for (const { kind } of MODULE_KINDS.map(withOthers)) {
    const store = storeOf(kind);
    const statements = [store.insert(wake), store.commit(wake)].map((made) => formOf(kind, made, () => true));
    for (const sql of [...statements, store.load(), store.claim(wake)]) {
      const formatted = formatSql(sql);
      expect(bare(formatted)).toBe(bare(sql));
      expect(Math.max(...formatted.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    }
  }
});

test('a CTE, a clause and an item of a list begin a line where they do not fit', () => {
  const names = Array.from({ length: 30 }, (_, index) => `a.column_${index}`).join(', ');
  const lines = formatSql(`with a as (select 1 as x), b as (select ${names} from a where a.x = 1)
select * from b where b.y in ('a (b', "c,d")`).split('\n');
  expect(lines[0]).toBe('with a as (select 1 as x),');
  expect(lines[1]).toBe('b as (');
  expect(lines[2]).toMatch(/^ {2}select a\.column_0, .*,$/);
  expect(lines.slice(-6)).toEqual([
    '  from a',
    '  where a.x = 1',
    ')',
    'select *',
    'from b',
    `where b.y in ('a (b', "c,d")`,
  ]);
});

test('brackets that do not match are refused', () => {
  expect(() => formatSql('select (1')).toThrow('A bracket is not closed');
  expect(() => formatSql('select 1)')).toThrow('A bracket is closed that was not opened');
});
