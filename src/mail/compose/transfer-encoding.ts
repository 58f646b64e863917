/** The transfer encodings of RFC 2045 6, chosen and laid out as nodemailer's composer does. */
import { encode } from 'nodemailer/lib/qp';
import { laidOut, wrapped } from './soft-breaks.ts';

/** The transfer encoding of a text. */
export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

/**
 * The most characters of a line; the composer takes for granted that a text of more than `SEARCHED` has a
 * longer one.
 */
export const LONGEST_LINE = 76;
const SEARCHED = 131_072;
const LONGER_LINE = /^.{77}/m;
/** Letters beyond ASCII, and control characters that are no white space. */
const OTHER = /[^\t\n\r\x20-\x7f]/;

/** True of a text without any. */
export const isPlain = (text: string): boolean => !OTHER.test(text);

/**
 * 7bit for short lines of ASCII; quoted-printable where most letters are Latin, so that the source stays
 * readable.
 */
export function transferEncodingOf(text: string): TransferEncoding {
  if (isPlain(text)) {
    if (text.length <= SEARCHED && !LONGER_LINE.test(text)) return '7bit';
    return /[A-Za-z]/.test(text) ? 'quoted-printable' : 'base64';
  }
  return excessOfLatin(text) > 0 ? 'quoted-printable' : 'base64';
}

/** The letters of ASCII less the characters beyond it. */
export function excessOfLatin(text: string): number {
  let latin = 0;
  let other = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) latin++;
    else if (code >= 0x80 || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d)) other++;
  }
  return latin - other;
}

/**
 * A text with line ends of SMTP in that encoding, its lines at most 76 octets long unless they travel as they
 * are.
 */
export function transferEncoded(text: string, encoding: TransferEncoding): string {
  if (encoding === '7bit') return text;
  if (encoding === 'quoted-printable') return quotedPrintable(text);
  return Buffer.from(text)
    .toString('base64')
    .replace(/.{76}(?!$)/g, '$&\r\n');
}

function quotedPrintable(text: string): string {
  const written = withoutSpaceAtEnd(text);
  if (written.length > LONGEST_LINE) {
    const lines = text.split('\r\n');
    const last = lines.length - 1;
    return lines.map((line, index) => encodedLine(line, index === last)).join('\r\n');
  }
  // The composer wraps nothing where all fits into one line.
  return withSpaceAtEnd(wrapped(encode(written)), text.slice(written.length));
}

const withoutSpaceAtEnd = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end--;
  return text.slice(0, end);
};

/**
 * The composer keeps back white space at the end until it knows that nothing follows, and wraps the last line
 * again with it.
 */
const withSpaceAtEnd = (lines: string, space: string): string => {
  if (space === '') return lines;
  const last = lines.lastIndexOf('\n') + 1;
  return lines.slice(0, last) + wrapped(lines.slice(last) + encode(space));
};

/** The octets that quoted-printable writes in another way, and the same without the equals sign. */
const ENCODED = /[^\t\x20-\x3c\x3e-\x7e]|[\t ]$/;
const HARD = /[^\t\x20-\x7e]|[\t ]$/;

/**
 * One line of a longer text in quoted-printable, without its end. Most lines of a mail are short and stay as
 * they are, which a pattern tells in a tenth of the time that the composer takes to look at every octet.
 */
export function encodedLine(line: string, isLast: boolean): string {
  const isEncoded = ENCODED.test(line);
  if (!isEncoded && !isLast && line.length <= LONGEST_LINE - 2) return line;
  if (!isLast) return laidOut(isEncoded ? octetsOf(line) : line, '\r\n');
  const written = withoutSpaceAtEnd(line);
  return withSpaceAtEnd(laidOut(octetsOf(written), ''), line.slice(written.length));
}

const octetsOf = (line: string): string => (HARD.test(line) ? encode(line) : line.replaceAll('=', '=3D'));
