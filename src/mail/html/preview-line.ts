import { beginOfBody } from './read-html.ts';

/** The most characters that inboxes show after a subject. */
const SHOWN = 150;

/**
 * One character of nothing. Inboxes collapse white space alone; with a joiner before it, they show as many spaces as there are
 * (Gmail, Apple Mail, Yahoo), and not the beginning of the message behind a short preview text.
 */
const NOTHING = '&#847;&zwnj;&nbsp;';

/** Html that keeps what comes behind a preview text of that length out of the inbox. */
export const previewEnd = (length: number): string => NOTHING.repeat(Math.max(1, SHOWN - length));

/** Puts the line that inboxes show behind the subject before all that is shown of an html part. */
export function withPreviewLine(html: string, previewText: string): string {
  if (!/\S/.test(previewText)) return html;
  const at = beginOfBody(html);
  const line = Bun.escapeHTML(previewText) + previewEnd(previewText.length);
  return `${html.slice(0, at)}<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${line}</div>${html.slice(at)}`;
}
