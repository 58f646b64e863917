import { PAGE_LANGUAGES } from '../../../../../platform/text/language.ts';

/** A language in its own words, such as Deutsch. */
export const ownName = (tag: string): string =>
  new Intl.DisplayNames(tag, { type: 'language', fallback: 'code' }).of(tag) ?? tag;

/**
 * The languages that emails of the service can be in, with one that is chosen already; `none` is the text for
 * no choice.
 */
export const languageOptions = (
  none: string,
  chosen: string | null = null,
): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ['', none],
    ...[...new Set([...(chosen === null ? [] : [chosen]), ...PAGE_LANGUAGES])].map((tag) => [
      tag,
      ownName(tag),
    ]),
  ]);
