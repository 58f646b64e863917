import { beginOfBody } from './read-html.ts';

/** The most characters that inboxes show after a subject. */
const SHOWN = 150;

/**
 * One character of nothing. Inboxes collapse white space alone; with a joiner before it, they show as many
 * spaces as there are (Gmail, Apple Mail, Yahoo), and not the beginning of the message behind a short preview
 * text.
 */
const NOTHING = '&#847;&zwnj;&nbsp;';

/** Html that keeps what comes behind a preview text of that length out of the inbox. */
const previewEnd = (length: number): string => NOTHING.repeat(Math.max(1, SHOWN - length));

/**
 * The line that inboxes show behind the subject, and nothing else does; empty without one. It has no colour:
 * white letters, as MJML's own preview has them, cost 0.7 points of SpamAssassin (HTML_FONT_LOW_CONTRAST).
 */
export function previewLine(previewText: string): string {
  if (!/\S/.test(previewText)) return '';
  const line = Bun.escapeHTML(previewText) + previewEnd(previewText.length);
  return `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${line}</div>`;
}

/** Puts that line before all that is shown of an html part. */
export function withPreviewLine(html: string, previewText: string): string {
  const line = previewLine(previewText);
  if (line === '') return html;
  const at = beginOfBody(html);
  return html.slice(0, at) + line + html.slice(at);
}
