import { Type } from '@sinclair/typebox';
import { literals } from '../http/request/schema.ts';
import {
  LONGEST_TAG,
  PAGE_LANGUAGES,
  type PageLanguage,
  pageLanguageAmong,
} from '../platform/text/language.ts';

/** The schema of a language that is chosen for emails of the service; null for none. */
export const ChosenLanguage = (description: string) =>
  Type.Union([
    Type.String({ minLength: 2, maxLength: LONGEST_TAG, description, examples: ['de'] }),
    Type.Null(),
  ]);

/** The schema of the language that they are in, which tells a fallback. */
export const EmailLanguage = literals(PAGE_LANGUAGES, {
  description:
    'The language that these emails are in: the chosen one, or the one that it belongs to (`pt` for `pt-BR`), else that of the workspace, else English.',
});

/** A chosen language with the one that emails are in. */
export const languagesOf = (
  language: string | null,
  workspaceLanguage: string | null,
): { readonly language: string | null; readonly emailLanguage: PageLanguage } => ({
  language,
  emailLanguage: pageLanguageAmong([language, workspaceLanguage]),
});

/**
 * SQL of the language that a person has chosen in the workspace joined last: in a further one they start with
 * it.
 */
export const languageOfPersonSql = (accountId: string): string =>
  `(select p.language from members p where p.account_id = ${accountId} and p.language is not null order by p.id desc limit 1)`;
