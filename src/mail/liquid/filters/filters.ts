import { type FilterImplOptions, filters as library } from 'liquidjs';
import { LIQUID_LIMITS, LiquidProblem, NOW } from '../limits.ts';
import { Placeholder, RawText, SafeText, textOf, type ValueWriter, weigh, weightOf } from '../values.ts';
import { LANGUAGE_FILTERS, styledDate } from './language-filters.ts';
import { LIST_FILTERS } from './list-filters.ts';
import { momentOf } from './moment.ts';
import { NUMBER_FILTERS } from './number-filters.ts';
import { strftime } from './strftime.ts';

type Handler = Extract<FilterImplOptions, (...given: never[]) => unknown>;
type Self = ThisParameterType<Handler>;

/** A filter with the fewest and the most arguments that it takes besides its value. */
interface Spec {
  readonly fewest: number;
  readonly most: number;
  readonly handler: Handler;
}

/**
 * The filters of the library that are offered, with their fewest and most arguments. Those that evaluate an
 * expression for every item (`where_exp`) are not: no limit of the library ends them. Those that no email
 * needs are not either.
 */
const LIBRARY: Readonly<Record<string, readonly [fewest: number, most: number]>> = {
  abs: [0, 0],
  at_least: [1, 1],
  at_most: [1, 1],
  ceil: [0, 0],
  floor: [0, 0],
  append: [1, 1],
  prepend: [1, 1],
  capitalize: [0, 0],
  downcase: [0, 0],
  upcase: [0, 0],
  lstrip: [0, 0],
  rstrip: [0, 0],
  strip: [0, 0],
  strip_html: [0, 0],
  strip_newlines: [0, 0],
  remove: [1, 1],
  remove_first: [1, 1],
  remove_last: [1, 1],
  replace: [1, 2],
  replace_first: [1, 2],
  replace_last: [2, 2],
  slice: [1, 2],
  truncate: [0, 2],
  truncatewords: [0, 2],
  escape: [0, 0],
  escape_once: [0, 0],
  newline_to_br: [0, 0],
  url_decode: [0, 0],
  base64_encode: [0, 0],
  base64_decode: [0, 0],
  default: [0, 2],
  first: [0, 0],
  join: [0, 1],
  last: [0, 0],
  reverse: [0, 0],
  sort: [0, 1],
  sort_natural: [0, 1],
};

/** Filters after which safe text is still safe. */
const KEEPING = ['lstrip', 'rstrip', 'strip', 'strip_newlines'] as const;

const handlerOf = (name: string): Handler => {
  const found = library[name as keyof typeof library] as FilterImplOptions;
  return typeof found === 'function' ? found : found.handler;
};

/** All filters, writing values as `writing` does. */
export function filtersFor(writing: ValueWriter): ReadonlyMap<string, Spec> {
  const specs = new Map<string, Spec>();
  for (const [name, [fewest, most]] of Object.entries(LIBRARY))
    specs.set(name, { fewest, most, handler: handlerOf(name) });
  const replace = (name: string, fewest: number, most: number, handler: Handler): void => {
    specs.set(name, { fewest, most, handler });
  };
  for (const [name, [fewest, most, handler]] of Object.entries({
    ...NUMBER_FILTERS,
    ...LIST_FILTERS,
    ...LANGUAGE_FILTERS,
  }))
    replace(name, fewest, most, handler);
  replace('date', 0, 2, dateFilter);
  replace('join', 0, 1, join);
  replace('json', 0, 0, json);
  replace('size', 0, 0, size);
  replace('split', 1, 1, split);
  replace('url_encode', 0, 0, (value) => urlEncoded(textOf(value)));
  replace('base64_url_safe_encode', 0, 0, (value) => urlSafe(Buffer.from(textOf(value)).toString('base64')));
  replace('base64_url_safe_decode', 0, 0, (value) => Buffer.from(textOf(value), 'base64url').toString());
  replace('raw', 0, 0, (value) =>
    value instanceof Placeholder ? value : new RawText(writing.raw(value), textOf(value)),
  );
  const joined = joining(writing);
  replace('append', 1, 1, joined);
  replace('prepend', 1, 1, (value, before) => joined(before, value));
  replace('default', 0, 2, defaultFilter);
  if (writing.escapes) makeSafe(specs, writing);
  return specs;
}

/** A safe text that stays is safe as before. */
function defaultFilter(this: Self, value: unknown, ...given: unknown[]): unknown {
  const made: unknown = (handlerOf('default') as (...all: unknown[]) => unknown).call(this, value, ...given);
  return value instanceof SafeText && made === value.text ? value : made;
}

/** Joins two texts; where one is safe, the other is escaped first. */
const joining =
  ({ write }: ValueWriter) =>
  (first: unknown, second: unknown): unknown =>
    first instanceof SafeText || second instanceof SafeText
      ? new SafeText(write(first) + write(second))
      : textOf(first) + textOf(second);

/** Checks the number of the arguments and the size of everything that goes in and comes out. */
export const guarded = (name: string, { fewest, most, handler }: Spec): Handler =>
  function* (this: Self, value: unknown, ...given: unknown[]) {
    if (given.length < fewest || given.length > most)
      throw new LiquidProblem(`Must give the filter ${name} ${countOf(fewest, most)}.`);
    weigh(value);
    for (const each of given) weigh(each);
    // `raw` counts as the last filter alone: an author who escapes behind it wants the value escaped.
    const read = value instanceof RawText ? value.value : value;
    const made: unknown = yield handler.call(this, read, ...given);
    weigh(made);
    const isSame =
      value instanceof Placeholder && (made instanceof SafeText ? made.text : made) === value.text;
    return isSame ? value : made;
  };

const countOf = (fewest: number, most: number): string => {
  if (most === 0) return 'no argument';
  const count = fewest === most ? `${most}` : fewest === 0 ? `at most ${most}` : `${fewest} or ${most}`;
  return `${count} argument${most === 1 ? '' : 's'}`;
};

/** In html, what a filter has escaped is not escaped again. */
function makeSafe(specs: Map<string, Spec>, { write, raw }: ValueWriter): void {
  const wrap = (name: string, made: (inner: Handler) => Handler) => {
    const spec = specs.get(name);
    if (spec) specs.set(name, { ...spec, handler: made(spec.handler) });
  };
  for (const name of ['escape', 'escape_once'])
    wrap(
      name,
      (inner) =>
        function (this: Self, value: unknown) {
          return value instanceof SafeText ? value : new SafeText(raw(inner.call(this, value)));
        },
    );
  for (const name of KEEPING)
    wrap(
      name,
      (inner) =>
        function (this: Self, value: unknown) {
          const made = inner.call(this, value) as string;
          return value instanceof SafeText ? new SafeText(made) : made;
        },
    );
  wrap('newline_to_br', () => (value) => new SafeText(write(value).replace(/\r?\n/g, '<br />\n')));
}

/** The format of a date where the template gives none. */
const USUAL_FORMAT = '%A, %B %-e, %Y at %-l:%M %P %z';

/**
 * Writes a time as Ruby's strftime does, in the zone that is given, else in UTC. `now` is the time of the
 * service's clock, which all instances agree on. What is no time stays as it is.
 */
const dateFilter: Handler = function (this: Self, value: unknown, format?: unknown, zone?: unknown) {
  const isNow = value === 'now' || value === 'today';
  const given = value instanceof SafeText ? value.text : value;
  const moment = momentOf(
    isNow ? this.context.getRegister(NOW, 0) / 1_000 : given,
    typeof zone === 'number' ? zone : textOf(zone) || 'UTC',
  );
  if (moment === null) return value;
  const pattern = textOf(format) || USUAL_FORMAT;
  return styledDate(this, moment, pattern) ?? strftime(moment, pattern);
};

const join: Handler = function (this: Self, value: unknown, separator: unknown = ' ') {
  if (!Array.isArray(value)) return textOf(value);
  const between = textOf(separator);
  weigh('x'.repeat(Math.min(between.length * value.length, LIQUID_LIMITS.result + 1)));
  return value.map(textOf).join(between);
};

const size: Handler = function (this: Self, value: unknown) {
  return (library.size as Handler).call(this, value instanceof SafeText ? value.text : value);
};

/** A text without white space around it is cut at each run of white space by a single space, as in Ruby. */
const split: Handler = function (this: Self, value: unknown, separator: unknown) {
  return textOf(separator) === ' '
    ? textOf(value)
        .split(/\s+/)
        .filter((word) => word !== '')
    : (library.split as Handler).call(this, value, separator);
};

/** Everything but letters, digits and `-_.~` is encoded, a space as `+` (CGI.escape). */
const urlEncoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** RFC 4648, section 5. */
const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

/** JSON of a value, of a bounded size before it is made. */
const json: Handler = (value) => {
  if (weightOf(value, LIQUID_LIMITS.result) > LIQUID_LIMITS.result / 8)
    throw new LiquidProblem('Must give the filter json a smaller value.', true);
  return JSON.stringify(value) ?? 'null';
};
