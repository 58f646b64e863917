import { type SQL, sql } from 'drizzle-orm';
import type { Detail } from '../errors/failure.ts';

/**
 * A condition on a row, as SQL and in memory with the same result. `now` is epoch milliseconds; the caller
 * reads the clock once, so that a query has a single "last 7 days".
 *
 * SQL may return null when the row has no value. Null counts as false: `and`, `or` and `where` treat it so
 * already, and negations are written `is not true`. A condition then needs no `coalesce`, behind which no
 * index would be used.
 */
export interface Filter<Row> {
  sql(now: number): SQL;
  matches(row: Row, now: number): boolean;
}

/** The reasons why something is no filter, or no value of an operator: one for each place. */
export class Problems {
  constructor(readonly details: readonly Detail[]) {}
}

/** One reason that concerns the whole value. */
export const problem = (message: string, path = ''): Problems => new Problems([{ path, message }]);

/** Holds for rows that match all filters. */
export const allOf = <Row>(filters: readonly Filter<Row>[]): Filter<Row> => ({
  sql: (now) => joined(filters, now, sql` and `),
  matches: (row, now) => filters.every((filter) => filter.matches(row, now)),
});

/** Holds for rows that match one of the filters. */
export const anyOf = <Row>(filters: readonly Filter<Row>[]): Filter<Row> => ({
  sql: (now) => joined(filters, now, sql` or `),
  matches: (row, now) => filters.some((filter) => filter.matches(row, now)),
});

/** Holds for all other rows, those without a value included. */
export const not = <Row>(filter: Filter<Row>): Filter<Row> => ({
  sql: (now) => sql`(${filter.sql(now)}) is not true`,
  matches: (row, now) => !filter.matches(row, now),
});

const joined = <Row>(filters: readonly Filter<Row>[], now: number, separator: SQL): SQL =>
  sql`(${sql.join(
    filters.map((filter) => filter.sql(now)),
    separator,
  )})`;

/** A value that a row may lack: as an SQL expression, and read from a row in memory. */
export interface Source<Row, Value> {
  readonly sql: SQL;
  read(row: Row): Value | null;
}

/** A condition on the value of a source; it never holds for rows that have none. */
export const onValue = <Row, Value>(
  source: Source<Row, Value>,
  write: (value: SQL, now: number) => SQL,
  holds: (value: Value, now: number) => boolean,
): Filter<Row> => ({
  sql: (now) => write(source.sql, now),
  matches: (row, now) => {
    const value = source.read(row);
    return value !== null && holds(value, now);
  },
});
