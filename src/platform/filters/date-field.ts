import { type SQL, sql } from 'drizzle-orm';
import { DAY_MS } from '../time/clock.ts';
import { allOf, type Filter, onValue, Problems, type Source } from './condition.ts';
import { DAY_LENGTH, instantSql, periodBefore } from './dates.ts';
import { type Bind, bind, type Field, negated } from './fields.ts';
import { presence } from './kinds.ts';
import { readDate, readPeriod } from './operators.ts';

/** Computes an instant from the `now` of the query. */
type Instant = (now: number) => number;

/**
 * An instant, in memory as epoch milliseconds. The database has microseconds as well: a condition there
 * compares with the beginning of a millisecond or of the next one, so that both agree and an index on the
 * column is still used.
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
  /** A day is its 24 hours: no filter means its first millisecond. */
  const eq: Bind<Row> = (value) => {
    const instant = readDate(value);
    if (instant instanceof Problems) return instant;
    const last = instant + (String(value).length === DAY_LENGTH ? DAY_MS - 1 : 0);
    return allOf([since(() => instant), until(() => last)]);
  };
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
