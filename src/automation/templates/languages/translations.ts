import type { AuthoredPart } from '../../../mail/liquid/parts.ts';
import { type Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { fallbacksOf, NO_LANGUAGE, readLanguage } from '../../../platform/text/language.ts';
import type { Report } from '../../../platform/text/problems.ts';
import type { StoredContent, VersionContent } from '../render/stored-content.ts';
import {
  MOST_TRANSLATIONS,
  TRANSLATIONS_SIZE,
  type Translation,
  type TranslationInput,
} from './translation-model.ts';

const PARTS = [
  'subject',
  'previewText',
  'html',
  'markdown',
  'mjml',
  'text',
] as const satisfies AuthoredPart[];

/**
 * The language that a request asks for; null where it names none, a refusal where it names something else.
 */
export const askedLanguage = (tag: string | undefined, path: string): string | null | Failure =>
  tag === undefined ? null : (readLanguage(tag) ?? invalidAt(path, NO_LANGUAGE));

/** The pointer of a member of a translation. */
export const pointerOf = (language: string, member?: string): string =>
  `/body/translations/${language}${member === undefined ? '' : `/${member}`}`;

type Translations = VersionContent['translations'];

/**
 * Reads the translations of a request over those from before: the languages that it names are replaced, and
 * those with null removed.
 */
export function readTranslations(
  given: Readonly<Record<string, TranslationInput | null>> | null | undefined,
  before: Translations,
  report: Report,
): Translations {
  if (given === undefined) return before;
  if (given === null) return {};
  const made = new Map(Object.entries(before));
  const seen = new Set<string>();
  for (const [tag, translation] of Object.entries(given)) {
    const language = readLanguage(tag);
    if (language === null) report(pointerOf(escapedPointer(tag)), NO_LANGUAGE);
    else if (seen.has(language)) report(pointerOf(escapedPointer(tag)), `Must name ${language} once.`);
    else if (translation === null) made.delete(language);
    else made.set(language, wholeOf(translation));
    if (language !== null) seen.add(language);
  }
  if (made.size > MOST_TRANSLATIONS)
    report('/body/translations', `Must have at most ${MOST_TRANSLATIONS} languages; these are ${made.size}.`);
  return sorted(made);
}

/** A name of a member in a JSON pointer (RFC 6901), of a bounded length. */
const escapedPointer = (name: string): string =>
  name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

/** In the order of their tags, so that the same translations are the same content. */
const sorted = (made: ReadonlyMap<string, Translation>): Translations =>
  Object.fromEntries([...made].toSorted(([one], [other]) => (one < other ? -1 : 1)));

const wholeOf = (given: TranslationInput): Translation =>
  Object.fromEntries(
    PARTS.map((part) => {
      const text = given[part] ?? null;
      return [part, text !== null && /\S/.test(text) ? text : null];
    }),
  ) as Translation;

/** Reports translations that are too large together. Each one is checked as content besides. */
export function checkSize(translations: Translations, report: Report): void {
  let octets = 0;
  for (const translation of Object.values(translations))
    for (const part of PARTS) octets += Buffer.byteLength(translation[part] ?? '');
  if (octets > TRANSLATIONS_SIZE.written)
    report('/body/translations', 'Must have at most 2 MiB, all languages together.');
}

/**
 * The content of a version as its author writes it for one language: that of the translation, and the rest.
 */
export const authoredIn = (
  content: VersionContent,
  language: string,
  { subject, previewText, ...bodies }: Translation,
): VersionContent => ({
  ...content,
  ...bodies,
  language,
  subject: subject ?? content.subject,
  previewText: previewText ?? content.previewText,
  translations: {},
});

/** The languages that a content has, besides its own. */
type Translated = Pick<VersionContent, 'language' | 'translations'>;

/**
 * The language of a content for one that is asked for: that one, the nearest one that contains it (`pt` for
 * `pt-BR`), or null for the content's own, which is also its answer where nothing is asked.
 */
export function chosenLanguage(
  { language: own, translations }: Translated,
  asked: string | null,
): string | null {
  if (asked === null) return null;
  for (const tag of fallbacksOf(asked)) {
    if (tag === own) return null;
    if (Object.hasOwn(translations, tag)) return tag;
  }
  return null;
}

/** The contents in their languages by the whole one: an email must not cost the making of one. */
const known = new WeakMap<StoredContent, Map<string, StoredContent>>();

/** A stored content in the language that is chosen for one that is asked for; its `language` tells which. */
export function contentIn(content: StoredContent, asked: string | null): StoredContent {
  const language = chosenLanguage(content, asked);
  if (language === null) return content;
  let byLanguage = known.get(content);
  if (!byLanguage) {
    byLanguage = new Map();
    known.set(content, byLanguage);
  }
  const before = byLanguage.get(language);
  if (before) return before;
  const translation = content.translations[language];
  const made = content.translated[language];
  if (!translation || !made) throw new Error('A translation was not made when its version was.');
  const inLanguage: StoredContent = {
    ...content,
    ...authoredIn(content, language, translation),
    ...made,
    translated: {},
  };
  byLanguage.set(language, inLanguage);
  return inLanguage;
}

/** A content in each of its languages, its own first. */
export const inEachLanguage = (content: StoredContent): StoredContent[] => [
  content,
  ...Object.keys(content.translations).map((language) => contentIn(content, language)),
];
