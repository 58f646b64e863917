import type { StoredContent, VersionContent } from '../render/stored-content.ts';

/** A part of a message that is in another language than the one that was asked for. */
export interface LanguageNote {
  readonly code: 'untranslated' | 'untranslated_subject' | 'untranslated_layer';
  readonly message: string;
}

/** The language of a message. */
interface Choice {
  readonly asked: string | null;
  /** The translation that answers; null for the own content. */
  readonly translation: string | null;
  /** The content that is shown. */
  readonly content: Pick<StoredContent, 'language' | 'untranslated'>;
}

/** Tells what is shown in another language than the one that was asked for. */
export function languageNotes(
  { language: own, subject, translations }: Pick<VersionContent, 'language' | 'subject' | 'translations'>,
  { asked, translation, content }: Choice,
): LanguageNote[] {
  const notes: LanguageNote[] = [];
  const isOwn = asked === null || own === asked || asked.startsWith(`${own}-`);
  if (translation === null && !isOwn)
    notes.push({
      code: 'untranslated',
      message: `The content has no translation into ${asked}, and is shown in its own language${own === null ? '' : `, ${own}`}.`,
    });
  if (translation !== null && subject !== null && (translations[translation]?.subject ?? null) === null)
    notes.push({
      code: 'untranslated_subject',
      message: `The translation ${translation} has no subject: that of the template is sent.`,
    });
  const { language, untranslated = [] } = content;
  if (untranslated.length > 0)
    notes.push({
      code: 'untranslated_layer',
      message: `These layouts and partials have no translation into ${language}, and are shown in their own language: ${untranslated.join(', ')}.`,
    });
  return notes;
}
