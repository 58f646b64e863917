import type { RawResponse } from '../../http/request/route.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { pageLanguageAmong, pageLanguageOf } from '../../platform/text/language.ts';
import { badLinkPage } from './page.ts';
import { TEXTS } from './texts/all-texts.ts';
import type { PageTexts } from './texts/en.ts';

// Other modules reach the pages of recipients through this file and commands.ts alone.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the choice of a language.
export { preferencesPath, SHOWN_PREFERENCES, TEST_EXIT, TEST_EXIT_TOKEN } from './links.ts';
export { askToUnsubscribe, testExitPage, unsubscribedPage } from './page.ts';

const BAD_LINK = new Failure('INVALID_TOKEN', 'This link is not valid.', {
  suggestion: 'Open the complete link from the email again.',
});

/**
 * The answer to a link that was not made here: a page for people, and the error of the interface for
 * programs.
 */
export const badLink = (headers: Headers): RawResponse | Failure =>
  (headers.get('accept') ?? '').includes('text/html') ? badLinkPage(textsFor(headers)) : BAD_LINK;

/** Longer headers are not read: a browser sends some fifty characters. */
const LONGEST_HEADER = 1_000;

/**
 * The texts in the language of the email that a link is in; else those that a browser prefers (RFC 9110,
 * 12.5.4).
 */
export function textsFor(headers: Headers, language: string | null = null): PageTexts {
  const ofEmail = pageLanguageOf(language ?? '');
  if (ofEmail) return TEXTS[ofEmail];
  const given = (headers.get('accept-language') ?? '').slice(0, LONGEST_HEADER).split(',');
  const wanted = given.map((range) => {
    const [tag = '', weight] = range.trim().split(/\s*;\s*q=/);
    return { tag, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const inOrder = wanted
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  return TEXTS[pageLanguageAmong(inOrder.map(({ tag }) => tag))];
}

/** The texts in the first of several languages that is spoken here; in English where none is. */
export const textsIn = (...languages: readonly (string | null)[]): PageTexts =>
  TEXTS[pageLanguageAmong(languages)];
