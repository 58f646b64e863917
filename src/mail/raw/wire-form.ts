/**
 * Brings a message into the form in which SMTP carries it, and changes nothing else (RFC 5321 2.3.8, RFC 5322
 * 2.1.1).
 */
import { isAscii } from 'node:buffer';
import { withHeaderApart } from './header-apart.ts';
import {
  divideMessage,
  endOfHeader,
  fieldOf,
  foldLongLines,
  joinMessage,
  LARGEST_HEADER,
  LONGEST_LINE,
  type RawField,
  readFields,
  replaceField,
} from './header-editor.ts';
import { withLineEnds } from './line-ends.ts';
import { type Leaf, leavesOf, treeOf } from './mime-tree.ts';
import { base64Lines, decodedOf, quotedPrintable } from './transfer.ts';

const CR = 0x0d;
const LF = 0x0a;

/** A change of octets in a message. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly octets: Buffer;
}

/** The message with its edits, which are in order and apart. */
export function withEdits(message: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return message;
  const pieces: Buffer[] = [];
  let done = 0;
  for (const { start, end, octets } of edits) {
    pieces.push(message.subarray(done, start), octets);
    done = end;
  }
  return Buffer.concat([...pieces, message.subarray(done)]);
}

/**
 * The message with CRLF for every bare CR and LF, for several CR before an LF, and at its end, without lines
 * of more than 998 octets where they can be shortened: a leaf becomes quoted-printable, one in base64 gets
 * other lines, a field a fold, also in the header of a part. A part that must not be changed keeps them. The
 * header begins with its first field, and an empty line ends it.
 */
export function inWireForm(message: Buffer): Buffer {
  const ended = wholeLines(message);
  // It is refused.
  if (endOfHeader(ended) > LARGEST_HEADER) return ended;
  const whole = withHeaderApart(ended);
  if (!hasLongLine(whole, 0, whole.length)) return whole;
  const folded = withEdits(
    whole,
    treeOf(whole).headers.flatMap((header) => foldOf(whole, header)),
  );
  const edits = leavesOf(folded).flatMap((leaf) => editOf(folded, leaf));
  const { fields, rest } = divideMessage(withEdits(folded, edits));
  return joinMessage({ fields: fields.map(foldLongLines), rest });
}

/** True when a bare CR or LF, or an end without CRLF, has to be changed. */
function needsLineEnds(message: Buffer): boolean {
  for (let at = message.indexOf(LF); at !== -1; at = message.indexOf(LF, at + 1))
    if (message[at - 1] !== CR) return true;
  for (let at = message.indexOf(CR); at !== -1; at = message.indexOf(CR, at + 1))
    if (message[at + 1] !== LF) return true;
  return message.length > 0 && message.at(-1) !== LF;
}

const LINE_END = Buffer.from('\r\n');

function wholeLines(message: Buffer): Buffer {
  if (!needsLineEnds(message)) return message;
  const ended = withLineEnds(message);
  return ended.at(-1) === LF ? ended : Buffer.concat([ended, LINE_END]);
}

/** True when a line within these octets is longer than 998. */
export function hasLongLine(message: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    // Most lines are short: a look at the longest one that may be there passes over several of them.
    const next = message.subarray(at, Math.min(end, at + LONGEST_LINE + 2)).lastIndexOf(LF);
    if (next === -1) return end - at > LONGEST_LINE;
    at += next + 1;
  }
  return false;
}

/** The edit that folds the header of a part where its lines are too long. */
function foldOf(message: Buffer, { start, end }: Pick<Edit, 'start' | 'end'>): readonly Edit[] {
  if (!hasLongLine(message, start, end)) return [];
  const fields = readFields(message.toString('latin1', start, end)).map(foldLongLines);
  return [{ start, end, octets: Buffer.from(fields.map(({ octets }) => octets).join(''), 'latin1') }];
}

/** The edits that shorten the lines of a leaf. They change its header where its encoding changes. */
function editOf(message: Buffer, leaf: Leaf): readonly Edit[] {
  const { body, end, encoding, lockedBy } = leaf;
  if (lockedBy !== null || !hasLongLine(message, body, end)) return [];
  const content = message.subarray(body, end);
  if (encoding === 'base64') return [{ start: body, end, octets: base64Lines(decodedOf(content, encoding)) }];
  return encodedAs(message, leaf, quotedPrintable(decodedOf(content, encoding)), 'quoted-printable');
}

/**
 * The message with quoted-printable in place of octets beyond ASCII, where a leaf may be changed (RFC 6152
 * 3).
 */
export function inSevenBit(message: Buffer): Buffer {
  const edits = leavesOf(message).flatMap((leaf) => {
    const { body, end, encoding, lockedBy } = leaf;
    const content = message.subarray(body, end);
    if (lockedBy !== null || encoding === 'base64' || isAscii(content)) return [];
    return encodedAs(message, leaf, quotedPrintable(decodedOf(content, encoding)), 'quoted-printable');
  });
  return withEdits(message, edits);
}

/**
 * A leaf with another content in this encoding: its Content-Transfer-Encoding is changed only where it says
 * another one.
 */
export function encodedAs(
  message: Buffer,
  { start, body, end, encoding }: Pick<Leaf, 'start' | 'body' | 'end' | 'encoding'>,
  octets: Buffer,
  as: string,
): readonly Edit[] {
  const content = { start: body, end, octets };
  if (encoding === as) return [content];
  const header = message.subarray(start, body);
  const { fields, rest } = divideMessage(header);
  const named: RawField = fieldOf('Content-Transfer-Encoding', as);
  const changed = joinMessage({
    fields: replaceField(fields, named),
    rest: rest.length > 0 ? rest : Buffer.from('\r\n'),
  });
  return [{ start, end: body, octets: changed }, content];
}
