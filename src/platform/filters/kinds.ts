import { type SQL, sql } from 'drizzle-orm';
import { type Filter, not, onValue, type Source } from './condition.ts';
import { type Bind, bind, type Field, negated } from './fields.ts';
import { caseFolding, foldedSql, folder } from './fold-case.ts';
import { readBoolean, readList, readNumber, readPart, readText } from './operators.ts';

/** A yes or no for the condition that is asked for with true, and for its opposite with false. */
const asked = <Row>(condition: Filter<Row>): Bind<Row> =>
  bind(readBoolean, (wanted) => (wanted ? condition : not(condition)));

const isThere = <Row, Value>(source: Source<Row, Value>): Filter<Row> =>
  onValue(
    source,
    (value) => sql`${value} is not null`,
    () => true,
  );

/** Operators for the presence of a value, for kinds without an empty value. */
export const presence = <Row, Value>(source: Source<Row, Value>): Pick<Field<Row>, 'exists' | 'isEmpty'> => ({
  exists: asked(isThere(source)),
  isEmpty: asked(not(isThere(source))),
});

/** The same with the empty text as absent, for sources whose value is always a text. */
export const textPresence = <Row>(
  source: Source<Row, unknown>,
): Required<Pick<Field<Row>, 'exists' | 'isEmpty'>> => ({
  exists: asked(isThere(source)),
  isEmpty: asked(
    not(
      onValue(
        source,
        (value) => sql`${value} <> ''`,
        (value) => value !== '',
      ),
    ),
  ),
});

/**
 * A case-insensitive condition on a part of a text. `strpos` knows no wildcards, where `like` would take them
 * from the client.
 */
const onPart = <Row>(
  source: Source<Row, string>,
  write: (text: SQL, part: string) => SQL,
  holds: (text: string, part: string) => boolean,
): Bind<Row> =>
  bind(readPart, (text) => {
    const folding = caseFolding(text);
    const fold = folder(folding);
    return onValue(
      source,
      (value) => write(foldedSql(value, folding), folding.part),
      (value) => holds(fold(value), folding.part),
    );
  });

/** A text. Whole texts are compared exactly, parts of them without regard to case. */
export function textField<Row>(source: Source<Row, string>) {
  const eq: Bind<Row> = bind(readText, (text) =>
    onValue(
      source,
      (value) => sql`${value} = ${text}::text`,
      (value) => value === text,
    ),
  );
  return {
    eq,
    neq: negated(eq),
    in: bind(readList(readText), (texts) =>
      onValue(
        source,
        (value) => sql`${value} = any(${sql.param(texts)}::text[])`,
        (value) => texts.includes(value),
      ),
    ),
    contains: onPart(
      source,
      (text, part) => sql`strpos(${text}, ${part}::text) > 0`,
      (text, part) => text.includes(part),
    ),
    startsWith: onPart(
      source,
      (text, part) => sql`starts_with(${text}, ${part}::text)`,
      (text, part) => text.startsWith(part),
    ),
    endsWith: onPart(
      source,
      (text, part) => sql`right(${text}, length(${part}::text)) = ${part}::text`,
      (text, part) => text.endsWith(part),
    ),
    ...textPresence(source),
  } satisfies Field<Row>;
}

/**
 * A number. Its text goes to the database as a decimal, since JSON writes none that a decimal could not hold.
 */
export function numberField<Row>(source: Source<Row, number>) {
  const compared = (sign: string, holds: (value: number, operand: number) => boolean): Bind<Row> =>
    bind(readNumber, (number) =>
      onValue(
        source,
        (value) => sql`${value} ${sql.raw(sign)} ${String(number)}::text::numeric`,
        (value) => holds(value, number),
      ),
    );
  const eq = compared('=', (value, number) => value === number);
  return {
    eq,
    neq: negated(eq),
    gt: compared('>', (value, number) => value > number),
    gte: compared('>=', (value, number) => value >= number),
    lt: compared('<', (value, number) => value < number),
    lte: compared('<=', (value, number) => value <= number),
    in: bind(readList(readNumber), (numbers) =>
      onValue(
        source,
        (value) => sql`${value} = any(${sql.param(numbers.map(String))}::text[]::numeric[])`,
        (value) => numbers.includes(value),
      ),
    ),
    ...presence(source),
  } satisfies Field<Row>;
}

/** true or false. */
export function booleanField<Row>(source: Source<Row, boolean>) {
  const eq: Bind<Row> = bind(readBoolean, (wanted) =>
    onValue(
      source,
      (value) => sql`${value} = ${String(wanted)}::text::boolean`,
      (value) => value === wanted,
    ),
  );
  return { eq, neq: negated(eq), ...presence(source) } satisfies Field<Row>;
}

/** The memberships of a row, by id. */
export interface Membership<Row> {
  /** The SQL condition that the row belongs to one of the ids. */
  sql(ids: readonly string[], now: number): SQL;
  /** The same in memory. */
  has(row: Row, ids: readonly string[], now: number): boolean;
}

/** Ids that a row has a set of, such as the audiences that it is in. */
export function idSetField<Row>({ sql: write, has }: Membership<Row>) {
  const oneOf = (ids: readonly string[]): Filter<Row> => ({
    sql: (now) => write(ids, now),
    matches: (row, now) => has(row, ids, now),
  });
  const eq: Bind<Row> = bind(readPart, (id) => oneOf([id]));
  return { eq, neq: negated(eq), in: bind(readList(readPart), oneOf) } satisfies Field<Row>;
}
