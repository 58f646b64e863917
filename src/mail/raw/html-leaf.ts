/**
 * The html of a message as text that can be changed and written back. What is not changed stays octet for
 * octet.
 */
import { isUtf8 } from 'node:buffer';
import { offersExit } from '../html/way-out.ts';
import { type Leaf, openedLeavesOf } from './mime-tree.ts';
import type { HtmlLock } from './raw-mail.ts';
import { base64Lines, decodedOf, quotedPrintable } from './transfer.ts';
import { type Edit, encodedAs, hasLongLine } from './wire-form.ts';

/** The most octets of html that is changed: reading it takes time for each copy. */
const LARGEST_HTML = 1_048_576;

/**
 * The html that may be changed for its recipients: the first leaf of it that is shown; or why there is none.
 */
export function changeableHtml(message: Buffer, leaves: readonly Leaf[]): Leaf | HtmlLock {
  const html = leaves.find(
    ({ type, isAttachment, lockedBy }) => type === 'text/html' && !isAttachment && lockedBy === null,
  );
  if (!html) return leaves.find(({ lockedBy }) => lockedBy !== null)?.lockedBy ?? 'no html';
  const { body, end } = html;
  if (end - body > 2 * LARGEST_HTML) return 'size';
  const octets = decodedOf(message.subarray(body, end), html.encoding);
  if (octets.length > LARGEST_HTML) return 'size';
  return lettersOf(html.charset, octets) === null ? 'charset' : html;
}

/**
 * True where html has a placeholder of the link to unsubscribe, a signed one too. The html that the parser
 * shows may also hold texts.
 */
export const offersExitInHtml = (message: Buffer): boolean =>
  openedLeavesOf(message).some(
    (leaf) => leaf.type === 'text/html' && !leaf.isAttachment && offersExit(lettersIn(message, leaf)),
  );

/** The decoding of a leaf, chosen so that unchanged letters give the same octets again. */
type Letters = 'utf8' | 'latin1';

/** In these each octet below 128 is the letter that it is in ASCII. */
const ASCII_BASED = /^(?:us-ascii|ascii|utf-?8|iso-8859-\d{1,2}|latin\d|windows-125\d|cp125\d|koi8-[ru]|)$/;
const LATIN = /^(?:iso-8859-1|latin1|windows-1252|cp1252)$/;

/** Null where the octets are letters of which links cannot be told. */
function lettersOf(charset: string, octets: Buffer): Letters | null {
  if (!ASCII_BASED.test(charset)) return null;
  if (LATIN.test(charset)) return 'latin1';
  if (/^utf-?8$|^$|ascii$/.test(charset) && isUtf8(octets)) return 'utf8';
  return octets.every((octet) => octet < 0x80) ? 'latin1' : null;
}

/** The letters of a leaf that may be changed. */
export function lettersIn(message: Buffer, leaf: Leaf): string {
  const octets = decodedOf(message.subarray(leaf.body, leaf.end), leaf.encoding);
  return octets.toString(lettersOf(leaf.charset, octets) ?? 'latin1');
}

/** The changes of a message that put other letters in the place of a leaf's. */
export function leafEdits(message: Buffer, leaf: Leaf, letters: string): readonly Edit[] {
  const { body, end, encoding, charset } = leaf;
  const before = decodedOf(message.subarray(body, end), encoding);
  const octets = Buffer.from(letters, lettersOf(charset, before) ?? 'latin1');
  if (encoding === 'base64') return [{ start: body, end, octets: base64Lines(octets) }];
  const lines = octets.includes('\n')
    ? Buffer.from(octets.toString('latin1').replace(/\r\n?|\n/g, '\r\n'), 'latin1')
    : octets;
  if (encoding === 'quoted-printable' || hasLongLine(lines, 0, lines.length))
    return encodedAs(message, leaf, quotedPrintable(lines), 'quoted-printable');
  return [{ start: body, end, octets: lines }];
}
