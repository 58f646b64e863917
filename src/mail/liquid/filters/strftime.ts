import { DAY_MS } from '../../../platform/time/clock.ts';
import { LiquidProblem } from '../limits.ts';
import { type Moment, zoneNameOf } from './moment.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * A piece of a format: flags, width, colons, a modifier that changes nothing in English, and the directive. A
 * width begins with no 0, which is a flag: where both may take it, a run of zeros is divided in all ways.
 */
const DIRECTIVE =
  /%([-0^#_]*)((?:[1-9]\d*)?)((?::{1,3}(?=z))?)(E(?=[cCxXyY])|O(?=[deHkIlmMSuUVwWy])|)([A-Za-z%+])/g;

/** A number, with the digits and the filler that it has where the format asks for no others. */
interface PaddedNumber {
  readonly value: number;
  readonly digits: number;
  readonly filler: '0' | ' ';
}

const number = (value: number, digits: number, filler: PaddedNumber['filler'] = '0'): PaddedNumber => ({
  value,
  digits,
  filler,
});

const dayOf = (year: number, month: number, day: number): number => {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return Math.floor(date.getTime() / DAY_MS);
};
const today = ({ year, month, day }: Moment): number => dayOf(year, month, day);
/** From 0 for Sunday. */
const weekday = (moment: Moment): number => (((today(moment) + 4) % 7) + 7) % 7;
/** From 1. */
const dayOfYear = (moment: Moment): number => today(moment) - dayOf(moment.year, 1, 1) + 1;
const twelve = ({ hour }: Moment): number => hour % 12 || 12;

/** The year and week of ISO 8601: those of the Thursday. */
function isoWeek(moment: Moment): { readonly year: number; readonly week: number } {
  const thursday = today(moment) - ((weekday(moment) + 6) % 7) + 3;
  const year = new Date(thursday * DAY_MS).getUTCFullYear();
  return { year, week: Math.floor((thursday - dayOf(year, 1, 1)) / 7) + 1 };
}

/** Weeks of the year that have begun, each with that day. */
const weeksFrom = (first: 0 | 1, moment: Moment): number =>
  Math.floor((dayOfYear(moment) + 6 - ((weekday(moment) - first + 7) % 7)) / 7);

const upper = ({ hour }: Moment): string => (hour < 12 ? 'AM' : 'PM');
const nameOf = (names: readonly string[], index: number): string => names[index] ?? '';

/** The output of each directive: a number, a text, or another format. */
const WRITES: Readonly<Record<string, (moment: Moment) => PaddedNumber | string | { readonly as: string }>> =
  {
    Y: ({ year }) => number(year, year < 0 ? 5 : 4),
    C: ({ year }) => number(Math.floor(year / 100), 2),
    y: ({ year }) => number(((year % 100) + 100) % 100, 2),
    m: ({ month }) => number(month, 2),
    B: ({ month }) => nameOf(MONTHS, month - 1),
    b: ({ month }) => nameOf(MONTHS, month - 1).slice(0, 3),
    h: ({ month }) => nameOf(MONTHS, month - 1).slice(0, 3),
    d: ({ day }) => number(day, 2),
    e: ({ day }) => number(day, 2, ' '),
    j: (moment) => number(dayOfYear(moment), 3),
    H: ({ hour }) => number(hour, 2),
    k: ({ hour }) => number(hour, 2, ' '),
    I: (moment) => number(twelve(moment), 2),
    l: (moment) => number(twelve(moment), 2, ' '),
    P: (moment) => upper(moment).toLowerCase(),
    p: upper,
    M: ({ minute }) => number(minute, 2),
    S: ({ second }) => number(second, 2),
    // The IANA database writes the shortest offset for a zone without an abbreviation.
    Z: (moment) => zoneNameOf(moment) ?? offset(moment, '', 0, 3).replaceAll(':', ''),
    A: (moment) => nameOf(DAYS, weekday(moment)),
    a: (moment) => nameOf(DAYS, weekday(moment)).slice(0, 3),
    u: (moment) => number(weekday(moment) || 7, 1),
    w: (moment) => number(weekday(moment), 1),
    G: (moment) => number(isoWeek(moment).year, 4),
    g: (moment) => number(isoWeek(moment).year % 100, 2),
    V: (moment) => number(isoWeek(moment).week, 2),
    U: (moment) => number(weeksFrom(0, moment), 2),
    W: (moment) => number(weeksFrom(1, moment), 2),
    s: ({ epochMs }) => number(Math.floor(epochMs / 1_000), 1),
    n: () => '\n',
    t: () => '\t',
    '%': () => '%',
    c: () => ({ as: '%a %b %e %H:%M:%S %Y' }),
    D: () => ({ as: '%m/%d/%y' }),
    x: () => ({ as: '%m/%d/%y' }),
    F: () => ({ as: '%Y-%m-%d' }),
    v: () => ({ as: '%e-%^b-%Y' }),
    X: () => ({ as: '%H:%M:%S' }),
    T: () => ({ as: '%H:%M:%S' }),
    R: () => ({ as: '%H:%M' }),
    r: () => ({ as: '%I:%M:%S %p' }),
  };
/** The rest depends on the width or the colons besides. */
const MEASURED = 'LNz';
/** The most characters that one directive is padded to. */
const WIDEST = 1_000;
/** The most characters of a format. */
const LONGEST = 200;
/** The most characters that a format makes: of one directive at its widest, and of all others besides. */
const LONGEST_WRITTEN = 2_000;
/** Directives that `#` writes in small letters; all others it writes in capitals. */
const LOWERED = 'pZ';

export const isLongFormat = (format: string): boolean => format.length > LONGEST;
export const LONG_FORMAT = `Must give the filter date a format of at most ${LONGEST} characters.`;

/**
 * Writes a moment as Ruby's Time#strftime does, in English. What Ruby does not know stays as it is. @throws
 * LiquidProblem
 */
export function strftime(moment: Moment, format: string): string {
  if (isLongFormat(format)) throw new LiquidProblem(LONG_FORMAT);
  const text = written(moment, format);
  if (text.length > LONGEST_WRITTEN)
    throw new LiquidProblem(`Must make a date of at most ${LONGEST_WRITTEN} characters.`);
  return text;
}

const written = (moment: Moment, format: string): string =>
  format.replace(
    DIRECTIVE,
    (whole, flags: string, width: string, colons: string, _modifier, name: string) => {
      if (Number(width) > WIDEST) throw new LiquidProblem(`Must pad a date to at most ${WIDEST} characters.`);
      if (name === 'L' || name === 'N')
        return fraction(moment, width === '' ? (name === 'L' ? 3 : 9) : Number(width));
      if (name === 'z') return offset(moment, flags, Number(width), colons.length);
      const writes = Object.hasOwn(WRITES, name) ? WRITES[name] : undefined;
      if (!writes || colons !== '') return whole;
      const made = writes(moment);
      if (typeof made === 'object' && 'value' in made) return padded(made, flags, width);
      const isText = typeof made === 'string';
      const text = isText ? made : written(moment, made.as);
      // Ruby heeds - and # in names, and not in formats that stand for others.
      const isLeft = isText && flags.includes('-');
      const filled = text.padStart(isLeft ? 0 : Number(width), fillerIn(flags) ?? ' ');
      if (flags.includes('^') && !(name === 'p' && flags.includes('#'))) return filled.toUpperCase();
      if (!flags.includes('#') || !isText) return filled;
      return LOWERED.includes(name) ? filled.toLowerCase() : filled.toUpperCase();
    },
  );

/** The character that a format fills up with: the last flag decides. */
function fillerIn(flags: string): '0' | ' ' | null {
  const last = [...flags].findLast((flag) => flag === '0' || flag === '_');
  return last === undefined ? null : last === '0' ? '0' : ' ';
}

function padded({ value, digits, filler }: PaddedNumber, flags: string, width: string): string {
  if (flags.includes('-')) return String(value);
  const character = fillerIn(flags) ?? filler;
  const count = width === '' ? digits : Number(width);
  if (character === ' ' || value >= 0) return String(value).padStart(count, character);
  return `-${String(-value).padStart(count - 1, '0')}`;
}

/** The fraction of the second, cut to so many digits. */
const fraction = ({ millisecond }: Moment, digits: number): string =>
  String(millisecond).padStart(3, '0').padEnd(digits, '0').slice(0, digits);

function offset({ offsetSeconds, zone }: Moment, flags: string, width: number, colons: number): string {
  // RFC 3339, 4.3: in UTC, a minus says that the local offset is not known. Ruby writes it so where the flag
  // asks for it.
  const isUnknown = zone === 'UTC' && flags.includes('-');
  const sign = offsetSeconds < 0 || isUnknown ? '-' : '+';
  const size = Math.abs(offsetSeconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes, seconds] = [
    Math.floor(size / 3_600),
    two(Math.floor(size / 60) % 60),
    two(size % 60),
  ];
  const rest =
    colons === 0
      ? minutes
      : colons === 1
        ? `:${minutes}`
        : colons === 2
          ? `:${minutes}:${seconds}`
          : seconds !== '00'
            ? `:${minutes}:${seconds}`
            : minutes !== '00'
              ? `:${minutes}`
              : '';
  if (fillerIn(flags) === ' ')
    return `${sign}${hours}${rest}`.padStart(Math.max(width, rest.length + 3), ' ');
  const least = Math.max(2, width - 1 - rest.length);
  return sign + String(hours).padStart(least, '0') + rest;
}

/** The first piece of a format that Ruby does not know; null where it knows all. */
export function unknownDirective(format: string): string | null {
  for (const [whole, , , colons, , name = ''] of format.matchAll(DIRECTIVE)) {
    const isKnown = MEASURED.includes(name) || Object.hasOwn(WRITES, name);
    if (!isKnown || (colons !== '' && name !== 'z')) return whole;
  }
  const rest = format.replace(DIRECTIVE, '');
  return /%.?/s.exec(rest)?.[0] ?? null;
}
