import type { HtmlReading } from '../../mail/html/read-html.ts';
import { webAddress } from './api.ts';

/** The changes to an html part. */
interface Changes {
  /**
   * The address that takes the place of a link to the web: without quotes and bare ampersands. Null where
   * links stay.
   */
  readonly link: ((url: string) => string) | null;
  /** The html that is added at the end of the part. */
  readonly added: string;
}

/**
 * Replaces the addresses of links and adds something at the end. All else stays octet for octet as it was
 * written, since mail programs are more peculiar than any serialiser knows.
 */
export function rewriteHtml(
  html: string,
  { links, end }: Pick<HtmlReading, 'links' | 'end'>,
  { link, added }: Changes,
): string {
  const edits = (link === null ? [] : links).flatMap(({ url, ...place }) => {
    const address = webAddress(url);
    return address === null ? [] : [{ ...place, address }];
  });
  const pieces: string[] = [];
  let done = 0;
  let toAdd = added;
  const addAt = (position: number): void => {
    if (toAdd === '' || position < end) return;
    pieces.push(html.slice(done, end), toAdd);
    done = end;
    toAdd = '';
  };
  for (const edit of edits) {
    addAt(edit.start);
    pieces.push(html.slice(done, edit.start), `"${link?.(edit.address) ?? ''}"`);
    done = edit.end;
  }
  addAt(html.length);
  return pieces.join('') + html.slice(done);
}
