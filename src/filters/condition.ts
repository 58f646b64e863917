import { type SQL, sql } from 'drizzle-orm';
import type { Detail } from '../http/failure.ts';

/**
 * One question about a row, asked of the database or of a row in memory; both say the same. `now` is epoch milliseconds:
 * whoever asks takes it once, so that one query has one "last 7 days".
 *
 * SQL may answer null where the row has no value. Null counts as false: `and`, `or` and `where` treat it so already, and
 * negations are written `is not true`. A condition then needs no `coalesce`, behind which no index would be used.
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

/** Holds for rows for which each of the filters holds. */
export const allOf = <Row>(filters: readonly Filter<Row>[]): Filter<Row> => ({
  sql: (now) => joined(filters, now, sql` and `),
  matches: (row, now) => filters.every((filter) => filter.matches(row, now)),
});

/** Holds for rows for which one of the filters holds. */
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

/** A value that rows have or lack: as an SQL expression, and read from a row in memory. */
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
