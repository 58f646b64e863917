import { Parser } from 'htmlparser2';

/** Where one link's address stands in the html, quotes included. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** One attribute of a tag: name, and its value in double, single or no quotes. */
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?/g;

/**
 * Replaces the addresses of links that lead to the web, and nothing else: the rest of the html stays octet for octet as
 * it was written, since mail programs are more peculiar than any serialiser knows. What `replace` gives is
 * free of quotes and ampersands.
 */
export function rewriteLinks(html: string, replace: (url: string) => string): string {
  let result = '';
  let done = 0;
  for (const { start, end, url } of placesOf(html)) {
    result += `${html.slice(done, start)}"${replace(url)}"`;
    done = end;
  }
  return result + html.slice(done);
}

function placesOf(html: string): readonly Place[] {
  const places: Place[] = [];
  const parser = new Parser(
    {
      onopentag(name, { href }) {
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
    },
    { decodeEntities: true },
  );
  parser.end(html);
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
  const end = [...html.matchAll(/<\/body/gi)].at(-1)?.index;
  return end === undefined ? html + addition : html.slice(0, end) + addition + html.slice(end);
}
