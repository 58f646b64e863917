import { Parser } from 'htmlparser2';
import { DEEPEST_HTML } from '../../mail/content/text-part.ts';

/** The position of one link's address in the html, quotes included. */
interface LinkPosition {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** One attribute of a tag: name, and its value in double, single or no quotes. */
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?/g;

/** Html split at its links: the html before, between and after them, unchanged, and the URL of each. */
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
  for (const { start, end, url } of positionsOf(html)) {
    between.push(html.slice(done, start));
    urls.push(url);
    done = end;
  }
  return { between: [...between, html.slice(done)], urls };
}

/**
 * Replaces the addresses of links, and nothing else: the rest of the html stays octet for octet as it was written, since
 * mail programs are more peculiar than any serialiser knows. `replace` answers no quotes and no bare ampersands.
 */
export const replaceLinks = (
  { between: [first = '', ...rest], urls }: LinkedHtml,
  replace: (url: string) => string,
): string => first + urls.map((url, index) => `"${replace(url)}"${rest[index] ?? ''}`).join('');

function positionsOf(html: string): readonly LinkPosition[] {
  const positions: LinkPosition[] = [];
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, { href }) {
        depth++;
        if (depth > DEEPEST_HTML) return parser.pause();
        // `mailto:`, `tel:`, `#` and scripts are no web addresses, and stay as they are.
        if ((name !== 'a' && name !== 'area') || href === undefined || !isWeb(href)) return;
        const position = positionOfHref(html.slice(parser.startIndex, parser.endIndex + 1), href);
        if (position)
          positions.push({
            ...position,
            start: parser.startIndex + position.start,
            end: parser.startIndex + position.end,
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
  return positions;
}

function positionOfHref(tag: string, href: string): LinkPosition | null {
  const from = /^<\w+/.exec(tag)?.[0].length ?? 0;
  for (const { 0: whole, 1: name, 2: value, index } of tag.slice(from).matchAll(ATTRIBUTE)) {
    if (name?.toLowerCase() !== 'href' || value === undefined) continue;
    const end = from + index + whole.length;
    return { start: end - value.length, end, url: href.trim() };
  }
  return null;
}

/** True when a text is an absolute web address, without characters that other programs would read differently. */
export function isWeb(text: string): boolean {
  const address = text.trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address) && !/[\p{Cc}\s]/u.test(address);
}

/** Inserts html before the end of the body, or at the end of html without one. */
export function beforeBodyEnd(html: string, addition: string): string {
  // Searching a copy in lower case would not do: İ is one character longer there, which shifts every position after it.
  let end = -1;
  for (const { index } of html.matchAll(/<\/body/gi)) end = index;
  return end === -1 ? html + addition : html.slice(0, end) + addition + html.slice(end);
}
