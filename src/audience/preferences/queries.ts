import type { RawResponse } from '../../http/request/route.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { badLinkPage } from './page.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import type { PageTexts } from './texts/texts.ts';

// Other modules reach the pages of recipients through this file and commands.ts alone.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the choice of a language.
export { preferencesPath, SHOWN_PREFERENCES } from './links.ts';
export { askToUnsubscribe, unsubscribedPage } from './page.ts';

const BAD_LINK = new Failure('INVALID_TOKEN', 'This link is not valid.', {
  suggestion: 'Open the complete link from the email again.',
});

/** The answer to a link that was not made here: a page for people, and the error of the interface for programs. */
export const badLink = (headers: Headers): RawResponse | Failure =>
  (headers.get('accept') ?? '').includes('text/html') ? badLinkPage(textsFor(headers)) : BAD_LINK;

/** The languages of the pages; the first one is the default. */
const LANGUAGES: readonly PageTexts[] = [en, de];

/** The texts of a language tag, such as `de-AT`; null when it is not spoken here. */
const spoken = (tag: string): PageTexts | null =>
  LANGUAGES.find(({ language }) => tag.toLowerCase().split('-')[0] === language) ?? null;

/** Longer headers are not read: a browser sends some fifty characters. */
const LONGEST_HEADER = 1_000;

/** The texts that a browser prefers (RFC 9110, 12.5.4). */
export function textsFor(headers: Headers): PageTexts {
  const given = (headers.get('accept-language') ?? '').slice(0, LONGEST_HEADER).split(',');
  const wanted = given.map((range) => {
    const [tag = '', weight] = range.trim().split(/\s*;\s*q=/);
    return { texts: spoken(tag), weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const [best] = wanted
    .filter(({ texts, weight }) => texts !== null && weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  return best?.texts ?? en;
}

/** The texts in a person's language; in English where the language is unknown. */
export const textsIn = (language: unknown): PageTexts =>
  (typeof language === 'string' ? spoken(language) : null) ?? en;
