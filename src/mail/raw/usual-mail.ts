/**
 * Messages as most programs write them: one text, or a text and its html in a multipart/alternative, without
 * files. They are read here, since the parser, postal-mime 4.0.0, takes a promise for each line: 100 us of 5
 * kB, two thirds of all that reading such a message took. Whatever is written otherwise is the parser's, so
 * that each form has one reading; a test compares the two over generated messages.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { addressParser, decodeWords, type Email } from 'postal-mime';
import { type RawField, readFields, valueOfField } from './header-editor.ts';
import type { Leaf } from './mime-tree.ts';
import { isParsable } from './repair/parsable.ts';
import { decodedOf } from './transfer.ts';

/** Printable ASCII and folds. */
const PLAIN_HEADER = /^[\t\r\n -~]*$/;
const PLAIN_NAME = /^[!-9;-~]+:/;
const TEXT = /^text\/(?:plain|html)(?:; ?charset=(?:"[\w-]{1,40}"|[\w-]{1,40}))?$/i;
const ALTERNATIVE = /^multipart\/alternative; ?boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))$/i;
/** In these an octet of ASCII is the letter that it is there. */
const LATIN = /^(?:us-ascii|iso-8859-1|iso-8859-15|windows-1252|)$/;
const ENCODING = /^(?:7bit|8bit|quoted-printable)?$/i;
/** Codes in capitals and soft line breaks, and nothing that programs read in several ways. */
const ODD_QUOTED = /=(?![0-9A-F]{2}|\n(?!$))|[ \t]\n|[ \t=]$/;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The message as the parser would read it; null where the parser has to. `fields` are those of its header.
 */
export function usualMail(
  octets: Buffer,
  fields: readonly RawField[],
  leaves: readonly Leaf[],
): Email | null {
  const bodies = bodiesOf(octets, fields, leaves);
  // A message that is repaired for the parser is not a usual one.
  if (bodies === null || !isParsable(octets)) return null;
  const email: Record<string, unknown> = {
    headers: fields.map((field) => {
      const originalKey = field.octets.slice(0, field.name.length);
      return { key: field.name, originalKey, value: valueOfField(field) };
    }),
    headerLines: [],
    attachments: [],
  };
  const say = (key: string, name: string, read: (value: string) => unknown): void => {
    const value = valueIn(fields, name);
    if (value !== '') email[key] = read(value);
  };
  say('to', 'to', addressParser);
  say('cc', 'cc', addressParser);
  say('replyTo', 'reply-to', addressParser);
  say('subject', 'subject', decodeWords);
  for (const { key, letters } of bodies) if (letters !== '') email[key] = letters;
  return email as unknown as Email;
}

interface ShownBody {
  readonly key: 'text' | 'html';
  readonly letters: string;
}

function bodiesOf(
  octets: Buffer,
  fields: readonly RawField[],
  leaves: readonly Leaf[],
): readonly ShownBody[] | null {
  const [first, second] = leaves;
  if (!first || leaves.length > 2 || !fields.every(isPlain)) return null;
  // The parser reads the content of a message up to its end, and that of a part with the line end before the
  // delimiter.
  const only = first.start === 0 ? bodyOf(octets, first, fields, '') : null;
  if (only) return [only];
  if (first.type !== 'text/plain' || (second && second.type !== 'text/html')) return null;
  if (!isAlternative(octets, valueIn(fields, 'content-type'), leaves)) return null;
  const bodies = leaves.map((leaf) => {
    const part = readFields(octets.toString('latin1', leaf.start, leaf.body - 2));
    return part.every(isPlain) ? bodyOf(octets, leaf, part, '\n') : null;
  });
  return bodies.every((body) => body !== null) ? bodies : null;
}

const isPlain = ({ octets }: RawField): boolean => PLAIN_NAME.test(octets) && PLAIN_HEADER.test(octets);

const valueIn = (fields: readonly RawField[], name: string): string => {
  const field = fields.find((one) => one.name === name);
  return field ? valueOfField(field) : '';
};

/**
 * True where the delimiters of these leaves are the only octets of the message that may be read as
 * delimiters.
 */
function isAlternative(octets: Buffer, contentType: string, leaves: readonly Leaf[]): boolean {
  const [, quoted, plain] = ALTERNATIVE.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return false;
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const opening = Buffer.from(`${delimiter}\r\n`, 'latin1');
  const starts = leaves.map(({ start }) => start - opening.length);
  const closing = (leaves.at(-1)?.end ?? 0) + 2;
  let at = -1;
  for (const expected of [...starts, closing]) {
    at = octets.indexOf(delimiter, at + 1);
    if (at !== expected || (octets[at - 1] !== 0x0a && at > 0)) return false;
  }
  const isOpened = (start: number): boolean => octets.subarray(start, start + opening.length).equals(opening);
  return starts.every(isOpened) && /^--(?:\r\n)*$/.test(octets.toString('latin1', at + delimiter.length));
}

/** The content of a leaf as text; null where it is not one of the usual. */
function bodyOf(
  octets: Buffer,
  leaf: Leaf,
  fields: readonly RawField[],
  lastLineEnd: string,
): ShownBody | null {
  const { body, end, type, charset, start } = leaf;
  const isEnded = octets[body - 1] === 0x0a && octets[body - 2] === 0x0d;
  const isBare = body === start + 2 || (octets[body - 3] === 0x0a && octets[body - 4] === 0x0d);
  if (!isEnded || !isBare || body > end) return null;
  const contentType = valueIn(fields, 'content-type');
  const encoding = valueIn(fields, 'content-transfer-encoding').toLowerCase();
  const disposition = valueIn(fields, 'content-disposition');
  if (contentType !== '' && !TEXT.test(contentType)) return null;
  if (!ENCODING.test(encoding) || !/^(?:inline)?$/i.test(disposition)) return null;
  const lines = octets.subarray(body, end);
  const content = encoding === 'quoted-printable' ? decodedQuoted(lines) : lines;
  if (content === null || content.subarray(0, 3).equals(BYTE_ORDER_MARK)) return null;
  const isRead = charset === 'utf-8' ? isUtf8(content) : LATIN.test(charset) && isAscii(content);
  if (!isRead) return null;
  // With LF for each line end, as the parser has it.
  const letters = content.toString().replaceAll('\r\n', '\n');
  return { key: type === 'text/html' ? 'html' : 'text', letters: letters + lastLineEnd };
}

/** A code for a line end is a part of its line, so that the line ends are LF before it is decoded. */
function decodedQuoted(content: Buffer): Buffer | null {
  const lines = content.toString('latin1').replaceAll('\r\n', '\n');
  return ODD_QUOTED.test(lines) ? null : decodedOf(Buffer.from(lines, 'latin1'), 'quoted-printable');
}
