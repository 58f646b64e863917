import { foldedHeader } from './address-columns.ts';

/**
 * Columns of Mailchimp with its own ids, its rating of a member, and what it guesses of a computer's place and clock. Times and addresses
 * of a consent are no such columns: they prove it.
 */
const OF_MAILCHIMP = new Set(
  'leid euid memberrating lastchanged latitude longitude gmtoff dstoff'.split(' '),
);
const MARKS_OF_MAILCHIMP = ['leid', 'euid'];

/** The columns of a file that mean something to the service alone that wrote it, by its marks. */
export function machineColumns(headers: readonly string[]): ReadonlySet<string> {
  const folded = headers.map(foldedHeader);
  if (!MARKS_OF_MAILCHIMP.every((mark) => folded.includes(mark))) return new Set();
  return new Set(headers.filter((header) => OF_MAILCHIMP.has(foldedHeader(header))));
}
