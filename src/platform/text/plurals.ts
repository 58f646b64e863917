import type { PageLanguage } from './language.ts';

/** The forms by which each language counts (CLDR): those that `Intl.PluralRules` chooses among. */
interface PluralForm extends Record<PageLanguage, string> {
  en: 'one' | 'other';
  de: 'one' | 'other';
  fr: 'one' | 'many' | 'other';
  es: 'one' | 'many' | 'other';
  it: 'one' | 'many' | 'other';
  pt: 'one' | 'many' | 'other';
  nl: 'one' | 'other';
  pl: 'one' | 'few' | 'many' | 'other';
  sv: 'one' | 'other';
  tr: 'one' | 'other';
  ar: 'zero' | 'one' | 'two' | 'few' | 'many' | 'other';
  ja: 'other';
}

/** The words for a number in each form that a language has. `#` is the number. */
type Forms<Language extends PageLanguage> = Readonly<Record<PluralForm[Language], string>>;

/** The words for a number, with the number as people of the language write it. */
export function counted<Language extends PageLanguage>(
  language: Language,
  count: number,
  forms: Forms<Language>,
): string {
  const form = new Intl.PluralRules(language).select(count) as PluralForm[Language];
  return forms[form].replaceAll('#', () => count.toLocaleString(language));
}
