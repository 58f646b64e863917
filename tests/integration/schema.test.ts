import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { is } from 'drizzle-orm';
import { getViewConfig, PgView } from 'drizzle-orm/pg-core';
import { PLAN_NAMES } from '../../src/platform/config/plans.ts';
import type { EmbeddedDatabase } from '../../src/platform/db/embedded/embedded.ts';
import { PARTITIONED } from '../../src/platform/db/partitions.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const FOLDER = join(import.meta.dir, '../../src/platform/db/schema');
const META = join(import.meta.dir, '../../drizzle/meta');

/** Written by hand in drizzle/, since drizzle-kit cannot write it: the only differences between both. */
const BY_HAND: readonly string[] = [
  'column audience_matches.audience_ids: text[] collate "C" not null',
  'column contact_activity.position: bigint not null default event_position()',
  'index CREATE INDEX campaign_contents_by_image ON campaign_contents USING gin (images_in(content))',
  'index CREATE INDEX campaign_settings_by_image ON campaign_settings USING gin (images_in(settings))',
  'index CREATE INDEX template_versions_by_image ON template_versions USING gin (images_in(content))',
  'index CREATE UNIQUE INDEX contacts_by_email ON contacts USING btree (workspace_id, livemode, email_key) INCLUDE (id)',
];

/** The table in which `migrate` records the migrations, which it creates before the first one. */
const LEDGER = 'posthorn_migrations';

const DESCRIPTION = `
select format('column %s.%s: %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when o.collname = 'C' then ' collate "C"' else '' end, case when a.attnotnull then ' not null' else '' end,
    case when a.attgenerated <> '' then ' generated ' || pg_get_expr(d.adbin, d.adrelid)
      else ' default ' || pg_get_expr(d.adbin, d.adrelid) end) as line
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  left join pg_collation o on o.oid = a.attcollation
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> '${LEDGER}'
union all
select format('constraint %s of %s: %s', n.conname, c.relname, pg_get_constraintdef(n.oid))
  from pg_constraint n join pg_class c on c.oid = n.conrelid
  where n.connamespace = current_schema()::regnamespace and not c.relispartition and c.relname <> '${LEDGER}'
union all
select 'index ' || replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', '')
  from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relnamespace = current_schema()::regnamespace and not c.relispartition and c.relname <> '${LEDGER}'
order by 1`;

let database: EmbeddedDatabase;
let exported: Record<string, unknown>;
beforeAll(async () => {
  database = await embeddedDatabase();
  const files = readdirSync(FOLDER).map((file) => import(join(FOLDER, file)) as Promise<object>);
  exported = Object.assign({}, ...(await Promise.all(files)));
});
afterAll(() => database.close());

/** The tables, columns, constraints and indexes of the current schema of the connection. */
const described = async (): Promise<ReadonlySet<string>> =>
  new Set(
    (await database.query<{ line: string }>(DESCRIPTION)).map(({ line }) =>
      line.replace(' ON ONLY ', ' ON '),
    ),
  );

const without = (lines: ReadonlySet<string>, others: Iterable<string>): readonly string[] => {
  const left = new Set(lines);
  for (const line of others) left.delete(line);
  return [...left];
};

test('the Drizzle schema describes each table, column, type, default, constraint and index of the database', async () => {
  const live = await described();
  expect(live.size).toBeGreaterThan(900);
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson(exported));
  await database.script(`create schema from_drizzle; set search_path to from_drizzle`);
  await database.script(statements.join('\n').replaceAll('"public".', ''));
  const drizzle = await described();
  await database.script(`set search_path to public`);
  expect(without(live, drizzle)).toEqual(BY_HAND.toSorted());
  expect(without(drizzle, live)).toEqual([
    'column audience_matches.audience_ids: text[] not null',
    'column contact_activity.position: bigint not null',
  ]);
});

test('the Drizzle schema describes each column of each view', async () => {
  const columns = await database.query<{ view: string; name: string; type: string }>(
    `select c.relname as view, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.relname, a.attnum`,
  );
  const views = Object.values(exported).filter((each): each is PgView => is(each, PgView));
  const drizzle = views.flatMap((view) => {
    const { name, selectedFields } = getViewConfig(view);
    return Object.values(selectedFields as Record<string, { name: string; getSQLType(): string }>).map(
      (column) => ({
        view: name,
        name: column.name,
        type: column.getSQLType().replace(' collate "C"', ''),
      }),
    );
  });
  expect(drizzle.toSorted((a, b) => a.view.localeCompare(b.view))).toEqual(columns);
});

test('each change of the Drizzle schema is in a migration', async () => {
  const last = readdirSync(META)
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort()
    .at(-1);
  const snapshot = JSON.parse(readFileSync(join(META, last ?? ''), 'utf8'));
  expect(await generateMigration(snapshot, generateDrizzleJson(exported))).toEqual([]);
});

test('the tables that are partitioned by day are those that the service makes partitions of', async () => {
  const rows = await database.query<{ table: string; key: string }>(
    `select relname as table, pg_get_partkeydef(oid) as key from pg_class
     where relkind = 'p' and relnamespace = 'public'::regnamespace order by 1`,
  );
  const expected = PARTITIONED.map(({ table, column }) => ({ table, key: `RANGE (${column})` }));
  expect(rows).toEqual(expected.toSorted((a, b) => a.table.localeCompare(b.table)));
});

/** A row of a table without a key has to be found by all of its columns. */
test('a publication for all tables refuses no deletion', async () => {
  const without = await database.query<{ table: string }>(
    `select relname as table from pg_class c
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relreplident <> 'f'
       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
  );
  expect(without).toEqual([]);
});

test('the plans that the database takes are those that the service knows', async () => {
  const [check] = await database.query<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'workspaces_plan_check'`,
  );
  const taken = [...(check?.text ?? '').matchAll(/'(\w+)'::text/g)].map(([, name]) => name);
  expect(taken).toEqual([...PLAN_NAMES]);
});
