import { textOf } from '../values.ts';

/**
 * A number in decimal digits: `units` / 10^`places`. Filters calculate with these, as the original Liquid
 * does with BigDecimal: 19.9 times 3 is 59.7, and not 59.699999999999996.
 */
export interface Decimal {
  readonly units: bigint;
  readonly places: number;
  /** True of what is written with places, such as 2.0: it is divided with places. */
  readonly hasPlaces: boolean;
}

/**
 * Longer texts are read as floating point numbers: their digits would take time with the square of their
 * count.
 */
const LONGEST = 400;
const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d{1,3}))?$/i;
const LEADING_INTEGER = /^[-+]?\d{1,400}/;
const ZERO: Decimal = { units: 0n, places: 0, hasPlaces: false };

const power = (exponent: number): bigint => 10n ** BigInt(exponent);

/** The number that a text writes; null where it writes none. */
export function parseDecimal(text: string): Decimal | null {
  const written = text.length > LONGEST ? String(Number(text)) : text;
  const [whole, sign, integer = '', fraction = '', exponent = '0'] = DECIMAL.exec(written) ?? [];
  if (whole === undefined || integer + fraction === '') return null;
  const digits = BigInt(integer + fraction) * (sign === '-' ? -1n : 1n);
  const places = fraction.length - Number(exponent);
  return places < 0
    ? { units: digits * power(-places), places: 0, hasPlaces: false }
    : { units: digits, places, hasPlaces: fraction !== '' };
}

/**
 * The number that a value is, as the original Liquid reads it: of a text that is none its leading integer, of
 * all else 0.
 */
export function decimalOf(value: unknown): Decimal {
  if (typeof value === 'boolean' || Array.isArray(value)) return ZERO;
  const text = textOf(value).trim();
  const leading = LEADING_INTEGER.exec(text)?.[0];
  return parseDecimal(text) ?? (leading === undefined ? ZERO : (parseDecimal(leading) ?? ZERO));
}

const aligned = (a: Decimal, b: Decimal): readonly [bigint, bigint, number] => {
  const places = Math.max(a.places, b.places);
  return [a.units * power(places - a.places), b.units * power(places - b.places), places];
};

const made = (units: bigint, places: number, a: Decimal, b: Decimal): Decimal => ({
  units,
  places,
  hasPlaces: a.hasPlaces || b.hasPlaces,
});

export function sum(a: Decimal, b: Decimal): Decimal {
  const [one, other, places] = aligned(a, b);
  return made(one + other, places, a, b);
}

export const negated = (a: Decimal): Decimal => ({ ...a, units: -a.units });

export const product = (a: Decimal, b: Decimal): Decimal =>
  made(a.units * b.units, a.places + b.places, a, b);

/** Rounded towards minus infinity, as Ruby divides. */
const floored = (a: bigint, b: bigint): bigint => {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
};

/** Significant digits of a quotient: more than a floating point number holds. */
const QUOTIENT_PLACES = 40;

/** Whole numbers are divided as whole numbers. `b` is not 0. */
export function quotient(a: Decimal, b: Decimal): Decimal {
  const [one, other] = aligned(a, b);
  if (!a.hasPlaces && !b.hasPlaces) return made(floored(one, other), 0, a, b);
  return made((one * power(QUOTIENT_PLACES)) / other, QUOTIENT_PLACES, a, b);
}

/** The remainder, with the sign of `b`, as in Ruby. `b` is not 0. */
export function remainder(a: Decimal, b: Decimal): Decimal {
  const [one, other, places] = aligned(a, b);
  return made(one - other * floored(one, other), places, a, b);
}

/**
 * Rounded to so many places, halves away from zero; to tens, hundreds and so on where there are fewer than
 * none.
 */
export function rounded(a: Decimal, places: number): Decimal {
  if (places >= a.places) return a;
  const unit = power(a.places - places);
  const size = a.units < 0n ? -a.units : a.units;
  const whole = (size + unit / 2n) / unit;
  const units = a.units < 0n ? -whole : whole;
  return places < 0
    ? { units: units * power(-places), places: 0, hasPlaces: false }
    : { units, places, hasPlaces: places > 0 };
}

/** The digits, with exactly so many places. */
export function written({ units, places }: Decimal): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const point = digits.length - places;
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The number for further filters of the template. */
export const toNumber = (a: Decimal): number => Number(written(a));
