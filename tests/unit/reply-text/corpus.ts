import { CLIENTS, type LabelledReply } from './clients.ts';
import { HAND_WRITTEN } from './hand-written.ts';
import { LANGUAGES } from './languages.ts';
import { OTHER_PROGRAMS } from './other-programs.ts';
import { TRANSLATED_PROGRAMS } from './translated-programs.ts';

/**
 * Replies of mail programs in each language and position, and ones written by hand, each with the text of its
 * author.
 */
export const CORPUS: readonly LabelledReply[] = [
  ...Object.entries(LANGUAGES).flatMap(([language, lines]) =>
    Object.entries(CLIENTS).map(([client, make]) => ({ name: `${client}, ${language}`, ...make(lines) })),
  ),
  ...HAND_WRITTEN,
  ...OTHER_PROGRAMS,
  ...TRANSLATED_PROGRAMS,
];
