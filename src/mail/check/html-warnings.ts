import { placeAt } from '../../platform/text/places.ts';
import { held, readSource } from './source-tags.ts';
import { unclosedInBoth, unclosedTags } from './unclosed.ts';

/** A warning of a preview. */
export interface PreviewNote {
  readonly code: string;
  readonly message: string;
  readonly line: number | null;
  /** The offset in the MJML that the html was made of; absent for a note on the html. */
  readonly at?: number;
}

/** Most warnings of one kind: an author mends the first ones and looks again. */
const MOST_OF_A_KIND = 20;

/** A preview reads html to its end: it is made of a source whose length is bounded. */
const PREVIEWED = {
  longest: Number.POSITIVE_INFINITY,
  mostTags: Number.POSITIVE_INFINITY,
  attributes: new Set(['alt', 'href', 'src']),
};

const closedNowhere = (name: string): string => `This ${name} is closed nowhere.`;

/**
 * Warns of what a mail program shows badly in html. `hasLines`: its lines are the author's, so that they are
 * worth telling. `mjml`: the source that it was made of, in which an element without its end has its place.
 */
export function htmlWarnings(html: string, hasLines: boolean, mjml: string | null = null): PreviewNote[] {
  const warnings: PreviewNote[] = [];
  const counts = new Map<string, number>();
  const warn = (code: string, message: string, place: Pick<PreviewNote, 'line' | 'at'>) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count <= MOST_OF_A_KIND) warnings.push({ code, message, ...place });
  };
  const inHtml = (at: number) => ({ line: hasLines ? placeAt(html, at).line : null });
  const { tags } = readSource(html, PREVIEWED);
  for (const { name, isEnd, attributes, at } of tags) {
    if (isEnd) continue;
    if (name === 'img' && !attributes.has('alt'))
      warn(
        'image_without_alt',
        'This image has no alt text, which shows where images are blocked.',
        inHtml(at),
      );
    if ((['href', 'src'] as const).some((each) => /^\s*http:/i.test(attributes.get(each) ?? '')))
      warn('insecure_link', 'This address begins with http: use https.', inHtml(at));
  }
  if (mjml === null)
    for (const { name, at } of unclosedTags(tags)) warn('unclosed_tag', closedNowhere(name), inHtml(at));
  else
    for (const { name, at } of unclosedInBoth(readSource(held(mjml)), tags))
      warn('unclosed_tag', closedNowhere(name), { line: null, at: at - 1 });
  return warnings;
}
