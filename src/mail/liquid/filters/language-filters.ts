import { evalQuotedToken, type FilterImplOptions, type QuotedToken, TokenKind } from 'liquidjs';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { readLanguage } from '../../../platform/text/language.ts';
import { LANGUAGE, LiquidProblem } from '../limits.ts';
import { textOf } from '../values.ts';
import { type Decimal, parseDecimal, written } from './decimal.ts';
import type { Moment } from './moment.ts';

type Handler = Extract<FilterImplOptions, (...given: never[]) => unknown>;
type Self = ThisParameterType<Handler>;

/** The language of a content that names none. */
const UNNAMED = 'en-US';

/** The language in which dates, numbers and plurals are written. */
export const languageOf = (self: Self): string => textOf(self.context.getRegister(LANGUAGE)) || UNNAMED;

/**
 * Makes formats by the names of their languages and options, and keeps those used last: making one takes 50
 * µs.
 */
function remembered<Format>(make: (language: string, option: string) => Format) {
  const known = new LruMap<string, Format>({ entries: 100 });
  return (language: string, option: string): Format => {
    const name = `${language} ${option}`;
    const format = known.get(name) ?? make(language, option);
    known.set(name, format);
    return format;
  };
}

type Style = NonNullable<Intl.DateTimeFormatOptions['dateStyle']>;
const STYLE = /^(full|long|medium|short)( time)?$/;
const STYLES = 'full, long, medium or short, each also with time behind it, or a format such as %d.%m.%Y';
/** The most characters of a wrong style that are repeated. */
const LONGEST_TOLD = 40;

/**
 * A moment in the way of a language: `{{ day | date: "long" }}` is 3. März 2026; null where the format is no
 * style.
 */
export function styledDate(self: Self, { epochMs, offsetSeconds }: Moment, format: string): string | null {
  const [, dateStyle, time] = STYLE.exec(format) ?? [];
  if (dateStyle === undefined) return null;
  // The clocks of the zone by the service's own rules, so that all machines write the same.
  const shown = Temporal.Instant.fromEpochMilliseconds(epochMs + offsetSeconds * 1_000)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  return shown.toLocaleString(languageOf(self), {
    dateStyle: dateStyle as Style,
    ...(time !== undefined && { timeStyle: 'short' }),
  });
}

const amountOf = (value: unknown): Decimal | null =>
  typeof value === 'boolean' || Array.isArray(value) ? null : parseDecimal(textOf(value).trim());

const numberFormat = remembered(
  (language, places) =>
    new Intl.NumberFormat(
      language,
      places === ''
        ? { maximumFractionDigits: 20 }
        : { minimumFractionDigits: Number(places), maximumFractionDigits: Number(places) },
    ),
);
const numberIn = (language: string, read: Decimal, places = ''): string =>
  numberFormat(language, places).format(written(read) as Intl.StringNumericLiteral);

const MOST_PLACES = 20;
const WRONG_PLACES = `Must give the filter number at most ${MOST_PLACES} places, as a whole number.`;

/**
 * A number as people of a language write it: `{{ 1234.5 | number }}` is 1.234,5. What is no number stays as
 * it is.
 */
const number: Handler = function (this: Self, value: unknown, places?: unknown) {
  const read = amountOf(value);
  const asked = places === undefined ? '' : textOf(places);
  if (!/^(?:1?\d|20)?$/.test(asked)) throw new LiquidProblem(WRONG_PLACES, true);
  return read === null ? textOf(value) : numberIn(languageOf(this), read, asked);
};

/** The categories of plurals (CLDR). Each language has some of them, and every language has `other`. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;
type Form = (typeof FORMS)[number];
const isForm = (name: unknown): name is Form => FORMS.some((form) => form === name);
const PLURAL = `Must give the filter plural forms such as one: "# seat", other: "# seats": of ${FORMS.join(', ')}, and always other.`;

const pluralRules = remembered((language) => new Intl.PluralRules(language));

/**
 * Why one of the forms is never written in a language, as a sentence; null where each is, or where the
 * language is not known.
 */
function foreignForm(names: readonly Form[], language: string | null): string | null {
  if (language === null) return null;
  const { pluralCategories } = pluralRules(language, '').resolvedOptions();
  const own = FORMS.filter((form) => pluralCategories.includes(form));
  const foreign = names.find((name) => !own.includes(name));
  return foreign === undefined
    ? null
    : `The filter plural never writes the form ${foreign} in the language ${language}: leave it out, and give ${own.join(', ')}.`;
}

/**
 * The form for a number, with the number in place of `#`: `{{ count | plural: one: "# seat", other: "# seats"
 * }}`.
 */
const plural: Handler = function (this: Self, value: unknown, ...given: unknown[]) {
  const forms = new Map<Form, string>();
  for (const each of given) {
    const [name, text] = Array.isArray(each) ? each : [];
    if (!isForm(name)) throw new LiquidProblem(PLURAL);
    forms.set(name, textOf(text));
  }
  const other = forms.get('other');
  if (other === undefined) throw new LiquidProblem(PLURAL);
  const read = amountOf(value);
  const language = languageOf(this);
  // Each language counts by the digits that are shown: 1.0 is plural in English.
  const form = read === null ? 'other' : pluralRules(language, '').select(Number(written(read)));
  const shown = read === null ? textOf(value) : numberIn(language, read);
  return (forms.get(form) ?? other).replaceAll('#', () => shown);
};

/** The filters that write in the language of the content, with their fewest and most arguments. */
export const LANGUAGE_FILTERS: Readonly<
  Record<string, readonly [fewest: number, most: number, handler: Handler]>
> = {
  number: [0, 1, number],
  plural: [1, FORMS.length, plural],
};

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** An argument of a filter in a source: a token, or a name with one. */
type Argument = unknown;
const isQuoted = (argument: Argument): argument is QuotedToken =>
  typeof argument === 'object' &&
  argument !== null &&
  'kind' in argument &&
  argument.kind === TokenKind.Quoted;
const quotedOf = (argument: Argument): string | null =>
  isQuoted(argument) ? evalQuotedToken(argument) : null;

/**
 * Why the arguments that are written in a source are wrong for every value, as a sentence; null for right
 * ones. `language`: that of the content; null where none is known.
 */
export function problemOfArguments(
  name: string,
  args: readonly Argument[],
  language: string | null,
): string | null {
  const [first, second] = args.map(quotedOf);
  switch (name) {
    case 'date':
      // A format without a directive writes nothing of a date.
      return typeof first === 'string' && /\S/.test(first) && !first.includes('%') && !STYLE.test(first)
        ? `The filter date knows no ${first.slice(0, LONGEST_TOLD)}: write ${STYLES}.`
        : null;
    case 'money':
      if (typeof first === 'string' && !CURRENCIES.has(first.toUpperCase()))
        return `The filter money knows no currency ${first}: write a code of ISO 4217 such as "EUR".`;
      return typeof second === 'string' && readLanguage(second) === null
        ? `The filter money knows no language ${second}: write a tag such as "de-AT".`
        : null;
    case 'plural': {
      const names = args.map((each) => (Array.isArray(each) ? each[0] : null));
      return names.every(isForm) && names.includes('other') && new Set(names).size === names.length
        ? foreignForm(names, language)
        : PLURAL;
    }
    default:
      return null;
  }
}
