import { type SQL, sql } from 'drizzle-orm';
import { anyOf, type Filter, type Problems, problem, type Source } from './condition.ts';
import { dateField } from './date-field.ts';
import { dateIn, dateInSql } from './dates.ts';
import { type Bind, bind, type Field, type FieldFamily, negated } from './fields.ts';
import { numberField, textField, textPresence } from './kinds.ts';
import { readBoolean, readList, readNumber, readText } from './operators.ts';

/** A property's name, which is passed as a parameter all the same. */
const KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/**
 * The most values of `in` that an index is asked for one by one: of a hundred audiences' hundred values
 * nothing is left to plan.
 */
const MOST_BY_INDEX = 10;

/** The source of properties: a jsonb column that is never null, and the same object in memory. */
export interface Properties<Row> {
  readonly sql: SQL;
  read(row: Row): Readonly<Record<string, unknown>>;
}

type Scalar = string | number | boolean;

function readScalar(value: unknown): Scalar | Problems {
  if (typeof value === 'string') return readText(value);
  if (typeof value === 'number') return readNumber(value);
  return typeof value === 'boolean' ? readBoolean(value) : problem('Give a text, a number, true or false.');
}

/** The fields `properties.<key>`, or with another prefix. */
export const propertyFamily = <Row>(prefix: string, properties: Properties<Row>): FieldFamily<Row> => ({
  prefix,
  rest: '<key>',
  field: (key) => (KEY.test(key) ? propertyField(properties, key) : null),
});

/**
 * A value of any type. The type of the other operand decides: the text "50" is not the number 50, which may
 * also be written 50.0, and a date is a text in the form of one.
 */
export function propertyField<Row>({ sql: column, read }: Properties<Row>, key: string): Field<Row> {
  const own = (row: Row): unknown => {
    const values = read(row);
    return Object.hasOwn(values, key) ? values[key] : null;
  };
  const json = sql`${column} -> ${key}::text`;
  const plain = sql`${column} ->> ${key}::text`;
  // A cast beside its check would hold only as long as the planner keeps their order; within `case` it must.
  const typed = (type: string, value: SQL): SQL =>
    sql`case when jsonb_typeof(${json}) = ${sql.raw(`'${type}'`)} then ${value} end`;
  const text: Source<Row, string> = {
    sql: sql`(${typed('string', plain)})`,
    read: (row) => textOrNull(own(row)),
  };
  const texts = textField(text);
  const number: Source<Row, number> = {
    sql: sql`(${typed('number', sql`(${json})::numeric`)})`,
    read: (row) => numberOrNull(own(row)),
  };
  const numbers = numberField<Row>(number);
  const dates = dateField<Row>({
    // No number, list or object is written like a date, so that the type need not be asked for.
    sql: sql`(${dateInSql(sql`(${plain})`)})`,
    read: (row) => dateIn(textOrNull(own(row)) ?? ''),
  });
  /** The SQL for containing `{key: value}`, which a jsonb_path_ops index answers; `->>` would use none. */
  const equal = (value: Scalar): Filter<Row> => ({
    sql: () => sql`${column} @> ${JSON.stringify({ [key]: value })}::text::jsonb`,
    matches: (row) => own(row) === value,
  });
  const oneOf = (values: readonly Scalar[]): Filter<Row> => {
    const booleans = [...new Set(values)].filter((value) => typeof value === 'boolean');
    const lists = [
      sql`${text.sql} = any(${sql.param(values.filter((value) => typeof value === 'string'))}::text[])`,
      sql`${number.sql} = any(${sql.param(values.filter((value) => typeof value === 'number').map(String))}::text[]::numeric[])`,
    ];
    return {
      sql: () => sql`(${sql.join([...lists, ...booleans.map((value) => equal(value).sql(0))], sql` or `)})`,
      matches: (row) => values.some((value) => own(row) === value),
    };
  };
  /** Numbers are compared as numbers, texts as dates. */
  const ordered =
    (operator: 'gt' | 'gte' | 'lt' | 'lte'): Bind<Row> =>
    (value) =>
      (typeof value === 'number' ? numbers : dates)[operator](value);
  const eq = bind(readScalar, equal);
  return {
    eq,
    neq: negated(eq),
    gt: ordered('gt'),
    gte: ordered('gte'),
    lt: ordered('lt'),
    lte: ordered('lte'),
    contains: texts.contains,
    startsWith: texts.startsWith,
    endsWith: texts.endsWith,
    in: bind(readList(readScalar), (values) =>
      values.length > MOST_BY_INDEX ? oneOf(values) : anyOf(values.map(equal)),
    ),
    ...textPresence({ sql: sql`(${plain})`, read: own }),
    before: dates.before,
    after: dates.after,
    withinLast: dates.withinLast,
    olderThan: dates.olderThan,
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
