/**
 * A placeholder that is filled in for each recipient when an email leaves (src/sending/tracking). Only the
 * template may write one: the same characters in a variable are text.
 */
const PLACEHOLDER = /\{\{(?=\s*(?:unsubscribeUrl|preferencesUrl)\s*\}\})/g;
const WORD_JOINER = '\u2060';

/** A text that an author wants in html as it is. */
export const rawInHtml = (text: string): string => text.replace(PLACEHOLDER, '&#123;{');

/** A text as html. */
export const escapedInHtml = (text: string): string => {
  const escaped = Bun.escapeHTML(text);
  return escaped.includes('{{') ? rawInHtml(escaped) : escaped;
};

/**
 * In plain text nothing can be escaped, so an invisible character keeps the braces of a placeholder apart.
 */
export const writtenInText = (text: string): string =>
  text.includes('{{') ? text.replace(PLACEHOLDER, `{${WORD_JOINER}{`) : text;

/** True for a text that mail and the database can hold as it is. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const UNPRINTABLE = /[\p{Cc}\u2028\u2029]+/gu;

/** True for a text with characters that a line loses. */
export const isUnprintable = (text: string): boolean => text.search(UNPRINTABLE) !== -1;

/** A rendered subject or preview text. */
export const asLine = (text: string): string => text.replace(UNPRINTABLE, ' ').trim().toWellFormed();
