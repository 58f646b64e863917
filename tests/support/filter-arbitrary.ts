import fc from 'fast-check';
import { MOST_CONDITIONS } from '../../src/platform/filters/tree.ts';
import { NOW } from './filter-cases.ts';
import type { Person } from './filtered-people.ts';

/**
 * Texts that differ by case, type or one digit, dates that exist and that do not, and what SQL reads as its
 * own.
 */
const TEXTS = [
  '',
  'a',
  'A',
  'Ab',
  'bAb',
  'ab',
  '50',
  '50.0',
  '50%_',
  'true',
  'null',
  '\\1',
  '$1',
  "'; --",
  'new\nline',
  'Müller',
  'MÜLLER',
  'mü',
  'straße',
  'STRASSE',
  'ß',
  'ẞ',
  'İi',
  'ı',
  'Σς',
  'σΣ',
  'ſs',
  '\u212a',
  'k',
  'ǅ',
  '😀a',
  '2026-11-20',
  '2026-11-20T00:00:00Z',
  '2026-11-20T00:00:00.0009999Z',
  '2026-11-20T01:30:00.999999999+01:30',
  '2026-02-30',
  '2026-02-29',
  '2024-02-29',
  '2000-02-29',
  '1900-02-29',
  '2026-04-31',
  '2026-13-01',
  '0000-01-01',
  '0001-01-01T00:00:00+15:59',
  '9999-12-31T23:59:59.999-15:59',
  '2026-11-20T12:00:00+16:00',
  '2026-11-20\n',
  '2026-11-20T24:00:00Z',
  '2026-11-20T23:59:60Z',
  '2026-11-20T12:00:00',
  '2026-11-20 12:00:00Z',
  '٢٠٢٦-11-20',
];
const DATES = [
  '2026-11-20',
  '2026-11-20T00:00:00.000Z',
  '2026-11-19T23:59:59.999999Z',
  '2024-02-29',
  '0001-01-01',
];
const NUMBERS = [0, -0, 1, -1, 50, 50.5, 0.1, 0.30000000000000004, 1e21, 1e308, 5e-324, 2 ** 53, -(2 ** 31)];
const KEYS = ['a', 'b', 'constructor', 'k'.repeat(64)];
const AUDIENCES = ['aud_1', 'aud_2', "aud_'3"];

const storable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
const text = fc.oneof(
  { arbitrary: fc.constantFrom(...TEXTS), weight: 6 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 6 }).filter(storable), weight: 1 },
);
const number = fc.oneof(
  { arbitrary: fc.constantFrom(...NUMBERS), weight: 6 },
  { arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }), weight: 1 },
);
const scalar = fc.oneof(text, number, fc.boolean());
const property = fc.oneof(
  { arbitrary: scalar, weight: 8 },
  fc.constant(null),
  fc.array(scalar, { maxLength: 2 }),
  fc.record({ a: scalar }),
);

const DAY = 86_400_000;
/** Instants at and beside the edges that the generated periods have. */
const instant = fc
  .tuple(fc.constantFrom(0, 1, 2, 7, 14), fc.constantFrom(-1, 0, 1))
  .map(([days, ms]) => NOW - days * DAY + ms);
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const person: fc.Arbitrary<Omit<Person, 'id'>> = fc.record({
  name: nullable(text),
  score: nullable(number),
  subscribed: nullable(fc.boolean()),
  createdAt: nullable(fc.oneof(instant, fc.constantFrom(...DATES.map((date) => Date.parse(date))))),
  micros: fc.constantFrom(0, 1, 999),
  properties: fc.dictionary(fc.constantFrom(...KEYS), property, { noNullPrototype: true }),
  audiences: fc.uniqueArray(fc.constantFrom(...AUDIENCES)),
  opened: fc.array(instant, { maxLength: 2 }),
});

/** People, their ids from 1 on. */
export const people: fc.Arbitrary<readonly Person[]> = fc
  .array(person, { minLength: 20, maxLength: 30 })
  .map((rows) => rows.map((row, index) => ({ ...row, id: index + 1 })));

const period = fc.record({
  amount: fc.constantFrom(1, 2, 7, 10_000),
  unit: fc.constantFrom('minutes', 'hours', 'days', 'weeks'),
});
const part = text.filter((value) => value !== '');
const date = fc.oneof(
  fc.constantFrom(...DATES),
  instant.map((at) => new Date(at).toISOString()),
);
const listOf = (value: fc.Arbitrary<unknown>) => fc.array(value, { minLength: 1, maxLength: 4 });

/** The operators of a field, with values that they take. */
export type Values = Readonly<Record<string, fc.Arbitrary<unknown>>>;
const PRESENCE: Values = { exists: fc.boolean(), isEmpty: fc.boolean() };
const equalTo = (value: fc.Arbitrary<unknown>): Values => ({ eq: value, neq: value });
const orderedBy = (value: fc.Arbitrary<unknown>): Values => ({
  gt: value,
  gte: value,
  lt: value,
  lte: value,
});
const PARTS: Values = { contains: part, startsWith: part, endsWith: part };
const PERIODS: Values = { withinLast: period, olderThan: period };
const DATED: Values = { before: date, after: date, ...PERIODS };

/** The operators of each field, with values that they take. */
export const ASKED: Readonly<Record<string, Values>> = {
  name: { ...equalTo(text), in: listOf(text), ...PARTS, ...PRESENCE },
  score: { ...equalTo(number), ...orderedBy(number), in: listOf(number), ...PRESENCE },
  subscribed: { ...equalTo(fc.boolean()), ...PRESENCE },
  createdAt: { ...equalTo(date), ...orderedBy(date), ...DATED, ...PRESENCE },
  audiences: { ...equalTo(fc.constantFrom(...AUDIENCES)), in: listOf(fc.constantFrom(...AUDIENCES)) },
  'activity.opened': PERIODS,
  ...Object.fromEntries(
    KEYS.map((key) => [
      `properties.${key}`,
      {
        ...equalTo(scalar),
        ...orderedBy(fc.oneof(number, date)),
        in: listOf(scalar),
        ...PARTS,
        ...DATED,
        ...PRESENCE,
      },
    ]),
  ),
};

const conditionOn = (asked: Readonly<Record<string, Values>>) =>
  fc.oneof(
    ...Object.entries(asked).flatMap(([field, values]) =>
      Object.entries(values).map(([operator, value]) =>
        fc.record({ field: fc.constant(field), operator: fc.constant(operator), value }),
      ),
    ),
  );

const conditionsIn = (tree: unknown): number => JSON.stringify(tree).split('"operator":').length - 1;

/** Filters of up to 8 levels over these fields. */
export const treeOf = (asked: Readonly<Record<string, Values>>): fc.Arbitrary<unknown> =>
  fc
    .letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 7, depthSize: 'small' },
        { arbitrary: conditionOn(asked), weight: 2 },
        { arbitrary: fc.record({ and: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }), weight: 1 },
        { arbitrary: fc.record({ or: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }), weight: 1 },
        { arbitrary: fc.record({ not: tie('tree') }), weight: 1 },
      ),
    }))
    .tree.filter((made) => conditionsIn(made) <= MOST_CONDITIONS);

/** Filters over people. */
export const tree: fc.Arbitrary<unknown> = treeOf(ASKED);
