import { type FilterImplOptions, filters as library } from 'liquidjs';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { LiquidProblem } from '../limits.ts';
import { textOf } from '../values.ts';
import {
  type Decimal,
  decimalOf,
  negated,
  parseDecimal,
  product,
  quotient,
  remainder,
  rounded,
  sum,
  toNumber,
  written,
} from './decimal.ts';
import { languageOf } from './language-filters.ts';
import { flat } from './list-filters.ts';

type Handler = Extract<FilterImplOptions, (...given: never[]) => unknown>;
type Self = ThisParameterType<Handler>;

/**
 * The text of an argument as its author wrote it: `7.0` is a number with places, of which JavaScript keeps
 * none.
 */
function argumentText(self: Self, index: number): string {
  const token = (self as { readonly token?: { readonly args?: readonly unknown[] } }).token;
  const argument = token?.args?.[index] as { getText?(): string } | undefined;
  return argument?.getText?.() ?? '';
}

const argumentOf = (self: Self, value: unknown): Decimal => {
  const read = decimalOf(value);
  return /^-?\d+\.\d+$/.test(argumentText(self, 0)) ? { ...read, hasPlaces: true } : read;
};

const calculating = (calculate: (a: Decimal, b: Decimal) => Decimal): Handler =>
  function (this: Self, value: unknown, other: unknown) {
    return toNumber(calculate(decimalOf(value), argumentOf(this, other)));
  };

const dividing = (calculate: (a: Decimal, b: Decimal) => Decimal): Handler =>
  calculating((a, b) => {
    if (b.units === 0n) throw new LiquidProblem('Must not divide by 0.', true);
    return calculate(a, b);
  });

/** More places than any number has that a template is given. */
const MOST_PLACES = 20;

const placesOf = (value: unknown): number =>
  Math.max(-MOST_PLACES, Math.min(MOST_PLACES, Math.trunc(toNumber(decimalOf(value)))));

const round: Handler = (value, places) => toNumber(rounded(decimalOf(value), placesOf(places)));

/** A number with exactly so many places: `{{ 5 | fixed: 2 }}` is 5.00. What is no number stays as it is. */
const fixed: Handler = (value, places = 2) => {
  const read = amountOf(value);
  const count = Math.max(0, placesOf(places));
  if (read === null) return textOf(value);
  const cut = rounded(read, count);
  return written({ ...cut, units: cut.units * 10n ** BigInt(count - cut.places), places: count });
};

const MOST_FORMATS = 100;
const formats = new LruMap<string, Intl.NumberFormat>({ entries: MOST_FORMATS });

/**
 * An amount as people of a language write it: `{{ 1234.5 | money: "EUR", "de" }}` is 1.234,50 €. What is no
 * number stays as it is.
 */
const money: Handler = function (this: Self, value: unknown, currency: unknown, named?: unknown) {
  const language = named ?? languageOf(this);
  const name = `${textOf(currency)} ${textOf(language)}`;
  const read = amountOf(value);
  const format = formats.get(name) ?? formatOf(textOf(currency), textOf(language), isWritten(this));
  formats.set(name, format);
  return read === null ? textOf(value) : format.format(written(read) as Intl.StringNumericLiteral);
};

/** True where both arguments are written in the template, so that they are wrong for every recipient. */
const isWritten = (self: Self): boolean =>
  [0, 1].every((index) => /^(?:["']|$)/.test(argumentText(self, index)));

function formatOf(currency: string, language: string, isForAll: boolean): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency });
  } catch {
    throw new LiquidProblem(
      'Must give the filter money a currency such as "EUR" and a language such as "de-AT".',
      !isForAll,
    );
  }
}

const amountOf = (value: unknown): Decimal | null =>
  typeof value === 'boolean' || Array.isArray(value) ? null : parseDecimal(textOf(value).trim());

const mapped = library.map as Handler;

/** Adds up a list, or a property of its members. */
const sumUp: Handler = function* (this: Self, list: unknown, property?: unknown) {
  const members: unknown = property === undefined ? list : yield mapped.call(this, list, property);
  return toNumber(flat(members).reduce<Decimal>((total, item) => sum(total, decimalOf(item)), decimalOf(0)));
};

/** The filters of numbers, with their fewest and most arguments. */
export const NUMBER_FILTERS: Readonly<
  Record<string, readonly [fewest: number, most: number, handler: Handler]>
> = {
  plus: [1, 1, calculating(sum)],
  minus: [1, 1, calculating((a, b) => sum(a, negated(b)))],
  times: [1, 1, calculating(product)],
  divided_by: [1, 1, dividing(quotient)],
  modulo: [1, 1, dividing(remainder)],
  round: [0, 1, round],
  fixed: [0, 1, fixed],
  money: [1, 2, money],
  sum: [0, 1, sumUp],
};
