import { type HtmlReading, readHtml } from './read-html.ts';
import { wayOutWord } from './way-out-words.ts';

/** The two parts of a message. */
interface Parts {
  readonly html: string | null;
  readonly text: string | null;
}

/** The placeholder of the unsubscribe link, which is filled in for each recipient when an email leaves. */
export const EXIT_PLACEHOLDER = /\{\{\s*unsubscribeUrl\s*\}\}/g;
/** True of a part with the placeholder. */
export const offersExit = (part: string): boolean => part.search(EXIT_PLACEHOLDER) !== -1;
/**
 * A part whose link to unsubscribe leads to this page, which says that it is a test; with null, the link is
 * the recipient's. With that one, a colleague who tries it gets no campaign any more and no further test, and
 * no one learns of it.
 */
export const withTestExit = <Part extends string | null>(part: Part, url: string | null): Part =>
  (part === null || url === null ? part : part.replace(EXIT_PLACEHOLDER, () => url)) as Part;

/** The placeholder as this service writes it. */
const PLACEHOLDER = '{{unsubscribeUrl}}';

/**
 * Keeps rules of a style sheet from hiding an element. Outlook for Windows passes over declarations that are
 * important.
 */
const KEPT = [
  'visibility:visible',
  'opacity:1',
  'position:static',
  'float:none',
  'transform:none',
  'clip-path:none',
  'width:auto',
  'height:auto',
  'max-width:none',
  'max-height:none',
  'overflow:visible',
  'text-indent:0',
]
  .map((declaration) => `${declaration}!important`)
  .join(';');
const PARAGRAPH = `display:block;clear:both;margin:24px 0 0;padding:8px;font:12px/18px sans-serif;color:#595959;background-color:#ffffff;text-align:center;display:block!important;margin:24px 0 0!important;font:12px/18px sans-serif!important;${KEPT}`;
const ANCHOR = `display:inline;color:#595959;display:inline!important;margin:0!important;font:12px/18px sans-serif!important;${KEPT}`;

/** A ground of its colour makes it readable in dark messages too. */
const htmlWayOut = (address: string, language: Language): string =>
  `<p style="${PARAGRAPH}"><a href="${address}" style="${ANCHOR}">${wayOutWord(language)}</a></p>`;

/** The language of an email; null and undefined where none is known. */
type Language = string | null | undefined;

/** The text, with a way to unsubscribe where it names none. */
export const textWithWayOut = (text: string, address: string, language?: Language): string =>
  text.includes(address) ? text : `${text.trimEnd()}\n\n${wayOutWord(language)}: ${address}\n`.trimStart();

/** The html that has to be added so that every reader sees a way to unsubscribe. */
export const missingWayOut = (
  { shows }: Pick<HtmlReading, 'shows'>,
  address: string,
  language?: Language,
): string => (shows ? '' : htmlWayOut(address, language));

/** Rendered parts as their recipient gets them, with the placeholder of the link still in them. */
export function withWayOut<Rendered extends Parts>(rendered: Rendered, language?: Language): Rendered {
  const [html, text] = [rendered.html, rendered.text].map(
    (part) => part?.replace(EXIT_PLACEHOLDER, PLACEHOLDER) ?? null,
  );
  return {
    ...rendered,
    html: html == null ? null : htmlWithWayOut(html, language),
    text: text == null ? null : textWithWayOut(text, PLACEHOLDER, language),
  };
}

function htmlWithWayOut(html: string, language: Language): string {
  const reading = readHtml(html, PLACEHOLDER);
  return html.slice(0, reading.end) + missingWayOut(reading, PLACEHOLDER, language) + html.slice(reading.end);
}

/** True when the parts show every recipient a way to unsubscribe. */
export function showsWayOut({ html, text }: Parts): boolean {
  if (html !== null) return readHtml(html.replace(EXIT_PLACEHOLDER, PLACEHOLDER), PLACEHOLDER).shows;
  return text !== null && offersExit(text);
}
