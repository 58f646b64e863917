import { sql } from 'drizzle-orm';
import { type Database, execute } from '../../src/platform/db/database.ts';
import { type Filter, Problems } from '../../src/platform/filters/condition.ts';
import { dateField } from '../../src/platform/filters/date-field.ts';
import { instantSql, type Period, periodBefore } from '../../src/platform/filters/dates.ts';
import { bind, type Fields, negated } from '../../src/platform/filters/fields.ts';
import { booleanField, idSetField, numberField, textField } from '../../src/platform/filters/kinds.ts';
import { readPeriod } from '../../src/platform/filters/operators.ts';
import { propertyFamily } from '../../src/platform/filters/properties.ts';
import { readFilter } from '../../src/platform/filters/tree.ts';
import { rowsOf } from './engine.ts';

/** A row with a field of every kind. */
export interface Person {
  readonly id: number;
  readonly name: string | null;
  readonly score: number | null;
  readonly subscribed: boolean | null;
  /** Epoch milliseconds, and what the database has beyond them. */
  readonly createdAt: number | null;
  readonly micros: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly audiences: readonly string[];
  /** When they opened something. */
  readonly opened: readonly number[];
}

/** The kind of field that a module makes for itself: whether something happened, and when. */
const opened = (() => {
  const withinLast = bind<Person, Period>(readPeriod, (period) => since((now) => periodBefore(now, period)));
  return { withinLast, olderThan: negated(withinLast) };
})();

function since(from: (now: number) => number): Filter<Person> {
  return {
    sql: (now) => sql`exists (select 1 from people_opened o where o.person_id = p.id
      and o.at >= ${instantSql(from(now))} and o.at <= ${instantSql(now)})`,
    matches: (person, now) => person.opened.some((at) => at >= from(now) && at <= now),
  };
}

/** All that can be asked of a person. */
export const PEOPLE: Fields<Person> = {
  named: {
    name: textField({ sql: sql`p.name`, read: ({ name }) => name }),
    score: numberField({ sql: sql`p.score`, read: ({ score }) => score }),
    subscribed: booleanField({ sql: sql`p.subscribed`, read: ({ subscribed }) => subscribed }),
    createdAt: dateField({ sql: sql`p.created_at`, read: ({ createdAt }) => createdAt }),
    audiences: idSetField({
      sql: (ids) =>
        sql`exists (select 1 from people_audiences m where m.person_id = p.id and m.audience_id in ${ids})`,
      has: ({ audiences }, ids) => audiences.some((id) => ids.includes(id)),
    }),
    'activity.opened': opened,
  },
  families: [propertyFamily('properties.', { sql: sql`p.properties`, read: ({ properties }) => properties })],
};

/** A filter that must be one. */
export function filterOf(tree: unknown): Filter<Person> {
  const filter = readFilter(tree, '', PEOPLE);
  if (filter instanceof Problems) throw new Error(JSON.stringify(filter.details));
  return filter;
}

/** Makes the tables, with the index that equal properties are found by. */
export async function createPeople(database: Database): Promise<void> {
  await database.script(`create table people (id integer primary key, name text, score double precision,
      subscribed boolean, created_at timestamptz, properties jsonb not null);
    create index people_properties on people using gin (properties jsonb_path_ops);
    create table people_audiences (person_id integer, audience_id text, primary key (person_id, audience_id));
    create table people_opened (person_id integer, at timestamptz);`);
}

const isoWithMicros = ({ createdAt, micros }: Person): string | null =>
  createdAt === null
    ? null
    : new Date(createdAt).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);

/** Puts these people in the place of those that were there. */
export async function storePeople(database: Database, people: readonly Person[]): Promise<void> {
  await rowsOf(
    database,
    `with gone as (delete from people), left_all as (delete from people_audiences), unopened as (delete from people_opened) select`,
  );
  const rows = people.map((person) => ({ ...person, created_at: isoWithMicros(person) }));
  await rowsOf(
    database,
    `with input as (
      select * from jsonb_to_recordset($1::text::jsonb) as r(id integer, name text, score double precision,
        subscribed boolean, created_at timestamptz, properties jsonb, audiences jsonb, opened jsonb)
    ), members as (
      insert into people_audiences select id, jsonb_array_elements_text(audiences) from input
    ), openings as (
      insert into people_opened
      select id, timestamptz 'epoch' + jsonb_array_elements_text(opened)::bigint * interval '1 millisecond' from input
    )
    insert into people select id, name, score, subscribed, created_at, properties from input`,
    [JSON.stringify(rows)],
  );
}

/** The ids that each filter finds in the database, all asked in one statement. */
export async function found(
  database: Database,
  filters: readonly Filter<Person>[],
  now: number,
): Promise<readonly (readonly number[])[]> {
  const each = filters.map(
    (filter, index) =>
      sql`select ${sql.raw(String(index))} as filter, p.id from people p where ${filter.sql(now)}`,
  );
  const rows = await execute<{ filter: number; id: number }>(
    database,
    sql`${sql.join(each, sql` union all `)} order by 1, 2`,
  );
  return filters.map((_, index) => rows.filter(({ filter }) => filter === index).map(({ id }) => id));
}

/** The ids that a filter finds in memory. */
export const matching = (people: readonly Person[], filter: Filter<Person>, now: number): readonly number[] =>
  people.filter((person) => filter.matches(person, now)).map(({ id }) => id);
