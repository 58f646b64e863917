import { Parser } from 'htmlparser2';
import { DEEPEST_HTML } from '../../mail/content/text-part.ts';

/** Where one link's address stands in the html, quotes included. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** One attribute of a tag: name, and its value in double, single or no quotes. */
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?/g;

/** Html taken apart at its links: what stands before, between and after them as it was written, and where each leads. */
export interface LinkedHtml {
  readonly between: readonly string[];
  readonly urls: readonly string[];
}

/**
 * Finds the links that lead to the web. Nesting deeper than any email's is read no further: 350 KB of it took 4.6 s, and
 * its links stay as they are.
 */
export function findLinks(html: string): LinkedHtml {
  const between: string[] = [];
  const urls: string[] = [];
  let done = 0;
  for (const { start, end, url } of placesOf(html)) {
    between.push(html.slice(done, start));
    urls.push(url);
    done = end;
  }
  return { between: [...between, html.slice(done)], urls };
}

/**
 * Replaces the addresses of links, and nothing else: the rest of the html stays octet for octet as it was written, since
 * mail programs are more peculiar than any serialiser knows. What `replace` gives is free of quotes and ampersands.
 */
export const replaceLinks = (
  { between: [first = '', ...rest], urls }: LinkedHtml,
  replace: (url: string) => string,
): string => first + urls.map((url, index) => `"${replace(url)}"${rest[index] ?? ''}`).join('');

function placesOf(html: string): readonly Place[] {
  const places: Place[] = [];
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, { href }) {
        depth++;
        if (depth > DEEPEST_HTML) return parser.pause();
        // `mailto:`, `tel:`, `#` and scripts are no places on the web, and stay what they are.
        if ((name !== 'a' && name !== 'area') || href === undefined || !isWeb(href)) return;
        const place = placeOfHref(html.slice(parser.startIndex, parser.endIndex + 1), href);
        if (place)
          places.push({
            ...place,
            start: parser.startIndex + place.start,
            end: parser.startIndex + place.end,
          });
      },
      onclosetag: () => {
        depth--;
      },
    },
    { decodeEntities: true },
  );
  parser.write(html);
  if (depth <= DEEPEST_HTML) parser.end();
  return places;
}

function placeOfHref(tag: string, href: string): Place | null {
  const from = /^<\w+/.exec(tag)?.[0].length ?? 0;
  for (const { 0: whole, 1: name, 2: value, index } of tag.slice(from).matchAll(ATTRIBUTE)) {
    if (name?.toLowerCase() !== 'href' || value === undefined) continue;
    const end = from + index + whole.length;
    return { start: end - value.length, end, url: href.trim() };
  }
  return null;
}

/** An absolute address on the web without anything that would make it another one to somebody else. */
export function isWeb(text: string): boolean {
  const address = text.trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address) && !/[\p{Cc}\s]/u.test(address);
}

/** Puts something before the end of the body, or at the end of html that has none. */
export function beforeBodyEnd(html: string, addition: string): string {
  // Not in a copy in lower case: İ is one character longer there, and every place after it another.
  let end = -1;
  for (const { index } of html.matchAll(/<\/body/gi)) end = index;
  return end === -1 ? html + addition : html.slice(0, end) + addition + html.slice(end);
}
