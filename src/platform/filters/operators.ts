import type { Detail } from '../errors/failure.ts';
import { MOST_DETAILS } from '../errors/schema-errors.ts';
import { isLonger } from '../errors/text-length.ts';
import { Problems, problem } from './condition.ts';
import { instantOf, PERIOD_UNITS, type Period } from './dates.ts';

/** All operators; each field defines which of them it accepts. */
export const OPERATORS = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'startsWith',
  'endsWith',
  'in',
  'exists',
  'isEmpty',
  'before',
  'after',
  'withinLast',
  'olderThan',
] as const;

export type Operator = (typeof OPERATORS)[number];

/** Characters (Unicode code points) of a text to compare with; no property value is longer. */
export const LONGEST_TEXT = 1_000;
/** The most values of `in`. */
export const MOST_VALUES = 100;
/** The largest amount of a period; 10,000 weeks are 191 years. */
export const MOST_UNITS = 10_000;

/** A text that PostgreSQL accepts: without NUL and without half of a surrogate pair. */
export function readText(value: unknown): string | Problems {
  if (typeof value !== 'string') return problem('Give a text.');
  if (isLonger(value, LONGEST_TEXT))
    return problem(`Use at most ${LONGEST_TEXT.toLocaleString('en')} characters.`);
  return value.includes('\0') || !value.isWellFormed()
    ? problem('Leave out NUL characters and halves of surrogate pairs.')
    : value;
}

/** A text to search for; the empty one is refused because it is found everywhere. */
export const readPart = (value: unknown): string | Problems =>
  value === '' ? problem('Must not be empty.') : readText(value);

/** A finite number; JSON can also write others (`1e999`). */
export const readNumber = (value: unknown): number | Problems =>
  typeof value === 'number' && Number.isFinite(value) ? value : problem('Give a number.');

/** true or false. */
export const readBoolean = (value: unknown): boolean | Problems =>
  typeof value === 'boolean' ? value : problem('Give true or false.');

/** Epoch milliseconds of a date. */
export function readDate(value: unknown): number | Problems {
  const instant = typeof value === 'string' ? instantOf(value) : null;
  return (
    instant ??
    problem(
      'Give an ISO 8601 date such as 2026-01-31, or a time with an offset such as 2026-01-31T09:30:00Z, of the years 1 to 9999.',
    )
  );
}

/** Up to a hundred values, each read in the same way. */
export const readList =
  <Item>(read: (value: unknown) => Item | Problems) =>
  (value: unknown): readonly Item[] | Problems => {
    if (!Array.isArray(value) || value.length === 0 || value.length > MOST_VALUES)
      return problem(`Give a list of 1 to ${MOST_VALUES} values.`);
    const items: Item[] = [];
    const details: Detail[] = [];
    for (const [index, element] of value.entries()) {
      const item = read(element);
      if (item instanceof Problems)
        details.push(...item.details.map(({ path, message }) => ({ path: `/${index}${path}`, message })));
      else items.push(item);
    }
    return details.length > 0 ? new Problems(details.slice(0, MOST_DETAILS)) : items;
  };

const isUnit = (value: unknown): value is Period['unit'] =>
  typeof value === 'string' && Object.hasOwn(PERIOD_UNITS, value);

/** `{amount, unit}`. */
export function readPeriod(value: unknown): Period | Problems {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problem('Give {"amount": 7, "unit": "days"}.');
  const { amount, unit, ...others } = value as Readonly<Record<string, unknown>>;
  const goodAmount = Number.isInteger(amount) && Number(amount) >= 1 && Number(amount) <= MOST_UNITS;
  const details: Detail[] = [];
  if (!goodAmount)
    details.push({
      path: '/amount',
      message: `Give a whole number of 1 to ${MOST_UNITS.toLocaleString('en')}.`,
    });
  if (!isUnit(unit))
    details.push({ path: '/unit', message: `Give one of ${Object.keys(PERIOD_UNITS).join(', ')}.` });
  if (Object.keys(others).length > 0)
    details.push({ path: '', message: 'Only amount and unit are known here.' });
  return details.length > 0 || !isUnit(unit) ? new Problems(details) : { amount: Number(amount), unit };
}
