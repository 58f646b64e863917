/** The longest tag of a language: `zh-Hant-TW` has 10 characters, and no registered one has more. */
export const LONGEST_TAG = 35;

const names = (type: 'language' | 'script' | 'region') =>
  new Intl.DisplayNames('en', { type, fallback: 'none' });
const LANGUAGES = names('language');
const KNOWN = [
  ['script', names('script')],
  ['region', names('region')],
] as const;

/** Why a tag is refused, as a sentence. */
export const NO_LANGUAGE =
  'Must be a language tag (BCP 47) that is registered, such as de, pt-BR or zh-Hant.';

/**
 * A language tag (BCP 47) in its usual letters; null for one that is malformed, that has variants or
 * extensions, or whose language, script or region no registry has.
 */
export function readLanguage(text: string): string | null {
  if (text.length > LONGEST_TAG) return null;
  try {
    const locale = new Intl.Locale(Intl.getCanonicalLocales(text)[0] ?? '');
    if (locale.baseName !== locale.toString() || locale.language === 'und') return null;
    if (LANGUAGES.of(locale.language) === undefined) return null;
    const parts = [locale.language];
    for (const [part, registry] of KNOWN) {
      const given = locale[part];
      if (given === undefined) continue;
      if (registry.of(given) === undefined) return null;
      parts.push(given);
    }
    const tag = parts.join('-');
    return tag === locale.baseName ? tag : null;
  } catch {
    return null;
  }
}

/** A value that may be a language, such as a property that an import has written; null where it is none. */
export function languageIn(value: unknown): string | null {
  return typeof value === 'string' ? readLanguage(value.trim().replaceAll('_', '-')) : null;
}

/** A tag with the ones that take its place: `zh-Hant-TW`, `zh-Hant`, `zh` (RFC 4647 3.4). */
export function* fallbacksOf(tag: string): Generator<string> {
  for (let rest = tag; rest !== ''; rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))) yield rest;
}

/** The scripts that run from right to left. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'Adlm',
  'Arab',
  'Hebr',
  'Mand',
  'Mend',
  'Nkoo',
  'Rohg',
  'Samr',
  'Syrc',
  'Thaa',
  'Yezi',
]);

export type Direction = 'ltr' | 'rtl';

/** The direction in which a language is written. */
export const directionOf = (tag: string): Direction =>
  RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';

/**
 * A text from elsewhere as it is written into one of a language: within one from right to left it keeps its
 * own direction, so that the marks at its ends stay there (FSI and PDI, UAX 9).
 */
export const isolatedIn = (language: string, text: string): string =>
  directionOf(language) === 'rtl' ? `\u2068${text}\u2069` : text;

/** The languages of recipients' pages, and of the words that the service itself writes into mail. */
export const PAGE_LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'sv',
  'tr',
  'ar',
  'ja',
] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/**
 * The one of them for a tag, such as `pt` for `pt-BR` and `pt_br`; null for a language that is not among
 * them.
 */
export function pageLanguageOf(tag: string): PageLanguage | null {
  for (const each of fallbacksOf(tag.trim().replaceAll('_', '-').toLowerCase())) {
    const language = PAGE_LANGUAGES.find((known) => known === each);
    if (language !== undefined) return language;
  }
  return null;
}

/** The first of several tags that is among them; English where none is. */
export function pageLanguageAmong(tags: readonly (string | null | undefined)[]): PageLanguage {
  for (const tag of tags) {
    const language = pageLanguageOf(tag ?? '');
    if (language !== null) return language;
  }
  return 'en';
}
