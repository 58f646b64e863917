import { type PageLanguage, pageLanguageAmong } from '../../platform/text/language.ts';

/** The word of the link by which a recipient leaves, in mail and on its page. */
export const WAY_OUT_WORDS: Readonly<Record<PageLanguage, string>> = {
  en: 'Unsubscribe',
  de: 'Abbestellen',
  fr: 'Se désabonner',
  es: 'Cancelar la suscripción',
  it: 'Annulla l’iscrizione',
  pt: 'Cancelar a inscrição',
  nl: 'Afmelden',
  pl: 'Anuluj subskrypcję',
  sv: 'Avsluta prenumerationen',
  tr: 'Abonelikten çık',
  ar: 'إلغاء الاشتراك',
  ja: '配信を停止',
};

/**
 * That word in the language of an email; in English where the email names none, or one that is not spoken
 * here.
 */
export const wayOutWord = (language: string | null | undefined): string =>
  WAY_OUT_WORDS[pageLanguageAmong([language])];
