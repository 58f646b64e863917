import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { PLAN_NAMES } from '../../src/platform/config/plans.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const FOLDER = join(import.meta.dir, '../../src/platform/db/schema');

/** Drizzle writes `text[]` where PostgreSQL's catalogue says `ARRAY`; both in the catalogue's words. */
const typeOf = (type: string): string =>
  type.endsWith('[]') ? 'ARRAY' : type === 'serial' ? 'integer' : type.replace(/\(.*\)/, '');

test('the tables that Drizzle reads are those that the migrations make', async () => {
  const database = await embeddedDatabase();
  const rows = await database.query<{ table: string; column: string; type: string; required: boolean }>(
    `select table_name as table, column_name as column, data_type as type, is_nullable = 'NO' as required
     from information_schema.columns where table_schema = 'public'`,
  );
  const columns = new Map(rows.map((row) => [`${row.table}.${row.column}`, row]));
  let seen = 0;
  for (const file of readdirSync(FOLDER)) {
    const module = (await import(join(FOLDER, file))) as Record<string, unknown>;
    for (const table of Object.values(module).filter((value) => is(value, PgTable))) {
      const { name, columns: declared } = getTableConfig(table);
      for (const column of declared) {
        const there = columns.get(`${name}.${column.name}`);
        expect({ column: `${name}.${column.name}`, type: there?.type, required: there?.required }).toEqual({
          column: `${name}.${column.name}`,
          type: typeOf(column.getSQLType()),
          required: column.notNull,
        });
        seen++;
      }
    }
  }
  expect(seen).toBeGreaterThan(50);
  await database.close();
});

test('the plans that the database takes are those that the service knows', async () => {
  const database = await embeddedDatabase();
  const [check] = await database.query<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'workspaces_plan_check'`,
  );
  const taken = [...(check?.text ?? '').matchAll(/'(\w+)'::text/g)].map(([, name]) => name);
  expect(taken).toEqual([...PLAN_NAMES]);
  await database.close();
});
