import { fallbacksOf } from '../../../../../../../platform/text/language.ts';
import type { Template, TemplateTranslation } from '../../../../../../client/operations.ts';
import { orNull } from '../../../ui/forms/or-null.ts';
import { FORMATS } from '../formats.ts';

/** A source as it was written: the white space of plain text is part of it. */
const untrimmed = (source: string): string | null => (source.trim() === '' ? null : source);

/** The fields of a template that differ by language, while they are edited. */
export interface TranslationDraft {
  readonly subject: string;
  readonly previewText: string;
  readonly source: string;
  readonly text: string;
}

/** The fields of the main content, and the translations. */
interface TranslatedDraft extends TranslationDraft {
  readonly translations: Readonly<Record<string, TranslationDraft>>;
}

/** The translations of a template as the form has them. */
export const translationsOf = ({
  format,
  translations,
}: Template): Readonly<Record<string, TranslationDraft>> =>
  Object.fromEntries(
    Object.entries(translations).map(([language, { subject, previewText, text, ...bodies }]) => [
      language,
      {
        subject: subject ?? '',
        previewText: previewText ?? '',
        source: bodies[FORMATS[format].member] ?? '',
        text: text ?? '',
      },
    ]),
  );

/** The same in the form of a request. */
export const translationsIn = (
  draft: TranslatedDraft,
  format: Template['format'],
): Record<string, TemplateTranslation> =>
  Object.fromEntries(
    Object.entries(draft.translations).map(([language, { subject, previewText, source, text }]) => [
      language,
      {
        html: null,
        markdown: null,
        mjml: null,
        subject: orNull(subject),
        previewText: orNull(previewText),
        [FORMATS[format].member]: untrimmed(source),
        text: FORMATS[format].hasText ? untrimmed(text) : null,
      },
    ]),
  );

/**
 * The translation that emails in a language get: that one, or the one that contains it; null for the own
 * content.
 */
export function translationFor(
  { language: own, translations }: Pick<TranslatedDraft, 'translations'> & { readonly language: string },
  asked: string | null,
): string | null {
  for (const tag of fallbacksOf(asked ?? '')) {
    if (tag === own) return null;
    if (Object.hasOwn(translations, tag)) return tag;
  }
  return null;
}

/** The fields of a draft in a language; its own content for null, and for a language that was removed. */
export const shownIn = (draft: TranslatedDraft, language: string | null): TranslationDraft =>
  (language === null ? undefined : draft.translations[language]) ?? draft;

/** The change of a draft by fields that were edited in a language. */
export function changeIn(
  draft: TranslatedDraft,
  language: string | null,
  fields: Partial<TranslationDraft>,
): Partial<TranslatedDraft> {
  const before = language === null ? undefined : draft.translations[language];
  if (language === null || !before) return fields;
  return { translations: { ...draft.translations, [language]: { ...before, ...fields } } };
}

/** A translation begins with these fields of the main content. */
export const ownFields = ({ subject, previewText, source, text }: TranslationDraft): TranslationDraft => ({
  subject,
  previewText,
  source,
  text,
});

/** A language by its name, with its tag. */
export function languageName(tag: string): string {
  try {
    return `${new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag} (${tag})`;
  } catch {
    return tag;
  }
}
