import { type SQL, sql } from 'drizzle-orm';
import { allOf, type Filter, onValue, type Source } from './condition.ts';
import { instantSql, periodBefore } from './dates.ts';
import { type Bind, bind, type Field, negated } from './fields.ts';
import { presence } from './kinds.ts';
import { readDate, readPeriod } from './operators.ts';

/** Computes an instant from the `now` of the query. */
type Instant = (now: number) => number;

/**
 * An instant, in memory as epoch milliseconds. The database has microseconds as well: a condition there compares with the
 * beginning of a millisecond or of the next one, so that both agree and an index on the column is still used.
 */
export function dateField<Row>(source: Source<Row, number>) {
  const since = (instant: Instant): Filter<Row> =>
    onValue(
      source,
      (value, now) => sql`${value} >= ${instantSql(instant(now))}`,
      (value, now) => value >= instant(now),
    );
  const until = (instant: Instant): Filter<Row> =>
    onValue(
      source,
      (value, now) => sql`${value} < ${nextMillisecond(instant(now))}`,
      (value, now) => value <= instant(now),
    );
  const before = (instant: Instant): Filter<Row> =>
    onValue(
      source,
      (value, now) => sql`${value} < ${instantSql(instant(now))}`,
      (value, now) => value < instant(now),
    );
  const after = (instant: Instant): Filter<Row> =>
    onValue(
      source,
      (value, now) => sql`${value} >= ${nextMillisecond(instant(now))}`,
      (value, now) => value > instant(now),
    );
  const dated = (condition: (instant: Instant) => Filter<Row>): Bind<Row> =>
    bind(readDate, (instant) => condition(() => instant));
  const eq = dated((instant) => allOf([since(instant), until(instant)]));
  return {
    eq,
    neq: negated(eq),
    gt: dated(after),
    gte: dated(since),
    lt: dated(before),
    lte: dated(until),
    before: dated(before),
    after: dated(after),
    withinLast: bind(readPeriod, (period) =>
      allOf([since((now) => periodBefore(now, period)), until((now) => now)]),
    ),
    olderThan: bind(readPeriod, (period) => before((now) => periodBefore(now, period))),
    ...presence(source),
  } satisfies Field<Row>;
}

/** The instant as SQL: the year 10000 has no ISO text that PostgreSQL reads. */
const nextMillisecond = (instant: number): SQL => sql`${instantSql(instant)} + interval '1 millisecond'`;
