import { describe, expect, test } from 'bun:test';
import { migrations } from '../../src/platform/db/migrations.ts';
import facts from '../fixtures/upgrade/facts.json';

// While instances are replaced one after the other, those of the release before go on with the schema of the
// next one: see docs/upgrade.md. tests/failure/rolling-upgrade-long.ts shows it with the executable of the
// release before.

/** Changes that the release before cannot work with, and their replacements. */
const CONTRACTIONS: readonly (readonly [form: RegExp, why: string])[] = [
  [/\brename\b/, 'it asks for the old name: add the new one, and drop the old one a release later'],
  [
    /\bdrop\s+(?!index\b|constraint\b|default\b|not\s+null\b|trigger\b)/,
    'it uses it still: drop it a release later',
  ],
  [
    /\badd\s+(?:constraint|check|unique|foreign|primary|exclude)\b|\bcreate\s+unique\s+index\b/,
    'it may write what the constraint refuses: ask for it a release later',
  ],
  [
    /\balter\s+column\s+\w+\s+(?:set\s+data\s+)?type\b/,
    'it writes the old type: add a column of the new one',
  ],
  [
    /\bset\s+not\s+null\b/,
    'it may write nothing there: let this release write it, and the next one ask for it',
  ],
  [
    /\badd\s+column\s+(?:if\s+not\s+exists\s+)?\w+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b/,
    'it does not write the column: give it a default',
  ],
];

const withoutComments = (sql: string): string =>
  sql
    .replace(/--.*$/gm, '')
    .replace(/'[^']*'/g, "''")
    .replaceAll('"', '')
    .toLowerCase();

const tablesOf = (sql: string): readonly string[] =>
  withoutComments(sql)
    .split(';')
    .flatMap((each) => /^\s*create table (\w+)/.exec(each)?.[1] ?? []);

/**
 * The statements of a migration, but for those on tables that it or one before it creates: the release before
 * knows none of these.
 */
function ofOldTables(sql: string, before: readonly string[]): string {
  const statements = withoutComments(sql).split(';');
  const created = new Set([...before, ...tablesOf(sql)]);
  const tableOf = (each: string) =>
    /^\s*(?:alter table|create unique index \w+ on) (\w+)/.exec(each)?.[1] ?? '';
  return statements.filter((each) => !created.has(tableOf(each))).join(';');
}

const faultsOf = (sql: string, before: readonly string[] = []): readonly string[] =>
  CONTRACTIONS.flatMap(([form, why]) => (form.test(ofOldTables(sql, before)) ? [why] : []));

describe('a migration since the last release', () => {
  const since = migrations.filter((migration) => migration.name > facts.lastMigration);
  for (const [at, { name, sql }] of since.entries())
    test(`${name} leaves the release before what it uses`, () =>
      expect(
        faultsOf(
          sql,
          since.slice(0, at).flatMap((one) => tablesOf(one.sql)),
        ),
      ).toEqual([]));

  test.each([
    'alter table emails rename column subject to title',
    'alter table emails drop column subject',
    'drop table emails',
    'drop function test_clocks_present(text)',
    'alter table emails add constraint short check (length(subject) < 10)',
    'create unique index emails_by_subject on emails (subject)',
    'create table later (id text); create unique index emails_by_subject on emails (subject)',
    'alter table emails alter column subject type varchar(10)',
    'alter table emails alter column subject set not null',
    'ALTER TABLE "emails" ALTER COLUMN "subject" SET DATA TYPE varchar(10);',
    'ALTER TABLE "emails" ADD COLUMN "later" text NOT NULL;',
    'alter table emails add column later text not null',
    'alter table emails add column later text collate "C" not null, add column other text default \'\'',
  ])('is refused for %s', (sql) => expect(faultsOf(sql)).not.toEqual([]));

  test.each([
    'create table later (id text not null); -- rename nothing, drop nothing',
    'alter table emails add column later text; drop index emails_by_age',
    'create table later (id text); create unique index later_by_id on later (id)',
    'CREATE TABLE "later" ("id" text); ALTER TABLE "later" ADD CONSTRAINT "later_pkey" PRIMARY KEY ("id");',
    "alter table emails add column later text[] not null default '{}'",
    `ALTER TABLE "emails" ADD COLUMN "later" text DEFAULT '' NOT NULL;`,
    'alter table emails alter column subject drop not null',
    "insert into words values ('drop table')",
  ])('may say %s', (sql) => expect(faultsOf(sql)).toEqual([]));
});
