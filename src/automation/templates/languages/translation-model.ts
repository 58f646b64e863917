import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { LIQUID_LIMITS } from '../../../mail/liquid/limits.ts';
import { LONGEST_TAG } from '../../../platform/text/language.ts';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** The most translations of a template. */
export const MOST_TRANSLATIONS = 50;
/**
 * Octets of all translations of a template as their authors write them, and characters of what is made of
 * them.
 */
export const TRANSLATIONS_SIZE = { written: 2_097_152, made: 8_388_608 } as const;

/** A language tag in a request. */
export const LanguageTag = (description: string) =>
  Type.String({
    minLength: 2,
    maxLength: LONGEST_TAG,
    description: `${description} A language tag (BCP 47).`,
    examples: ['de', 'pt-BR'],
  });

const Source = (description: string, examples: readonly string[] = []) =>
  nullable(
    Type.String({
      maxLength: LIQUID_LIMITS.source,
      description: `${description} Liquid; at most 256 KiB.`,
      examples: [...examples],
    }),
  );

const parts = {
  subject: Source("The subject, in one line; the template's own when null.", [
    'Ihre Bestellung {{ number }}',
  ]),
  previewText: Source("The text that inboxes show behind the subject; the template's own when null."),
  html: Source('The html part; format `html` only.', ['<p>Guten Tag {{ name }}</p>']),
  markdown: Source('emailmd markdown; format `emailmd` only.'),
  mjml: Source('MJML 5; format `mjml` only.'),
  text: Source('The plain text part; made from the html, markdown or mjml when null.'),
};

const Translation = Type.Object(parts, { title: 'TemplateTranslation' });
/** The content of a template in one language. */
export type Translation = Static<typeof Translation>;

const TranslationInput = Type.Object(Type.Partial(Type.Object(parts)).properties, {
  title: 'TemplateTranslationInput',
  additionalProperties: false,
});
/** The same in a request. */
export type TranslationInput = Static<typeof TranslationInput>;

const byLanguage = <Schema extends TSchema>(schema: Schema, description: string, title: string) =>
  Type.Unsafe<Record<string, Static<Schema>>>(
    Type.Object({}, { additionalProperties: schema, title, description }),
  );

/** The translations in an answer. */
export const Translations = byLanguage(
  Translation,
  'The translations, by language tag.',
  'TemplateTranslations',
);

/** The translations of a request. */
export const TranslationsInput = nullable(
  Type.Unsafe<Record<string, TranslationInput | null>>(
    Type.Object(
      {},
      {
        additionalProperties: nullable(TranslationInput),
        title: 'TemplateTranslationsInput',
        description: `Translations by language tag (BCP 47), at most ${MOST_TRANSLATIONS} and 2 MiB together. Each has a body in the format of the template. A change names the languages that it replaces; a language with null is removed, and null instead of all removes every one.`,
        examples: [{ de: { subject: 'Ihre Bestellung {{ number }}', html: '<p>Guten Tag {{ name }}</p>' } }],
      },
    ),
  ),
);

/** The language of the template's own content. */
export const OwnLanguage = nullable(
  LanguageTag(
    'The language of the main subject and bodies. Emails show it, the html has it in `lang` and `dir`, and dates and amounts are written in it. Null: no language.',
  ),
);

/** The languages of a version, in a list. */
export const Languages = Type.Array(Type.String(), {
  description: 'The languages of its translations.',
  examples: [['de', 'pt-BR']],
});
