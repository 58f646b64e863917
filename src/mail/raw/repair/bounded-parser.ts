/**
 * Bounds of the parser, postal-mime 4.0.0, which takes a promise for each line, 2 us, and 30 us for each
 * part.
 */
import PostalMime from 'postal-mime';
import { type Leaf, MOST_PARTS, openedLeavesOf, SHOWN } from '../mime-tree.ts';
import { withHeaderFields } from '../parameters.ts';
import { decodedOf } from '../transfer.ts';
import { type Edit, withEdits } from '../wire-form.ts';

/** 25 MiB in base64 are 400,000 lines. */
const MOST_LINES = 1_000_000;
/** Lines of a part from which on it is one line for the parser, where the message has too many. */
const MANY = 1_000;
const LF = 0x0a;
const CR = 0x0d;

/** The members of the parser that its types do not name. */
interface LineReader {
  readonly currentNode: unknown;
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
}
const { processLine } = PostalMime.prototype as unknown as LineReader;

/**
 * A parser that gives up at a message of more than `MOST_PARTS` parts. It counts what the parser takes for a
 * part: a boundary may be written in many ways, and most lines that begin with two hyphens are none.
 */
export class BoundedParser extends PostalMime {
  #parts = 0;
  #current: unknown;

  processLine(line: Uint8Array, isFinal: boolean): Promise<void> {
    const { currentNode } = this as unknown as LineReader;
    if (currentNode !== this.#current) {
      this.#current = currentNode;
      if (++this.#parts > MOST_PARTS) throw new Error(`The message has more than ${MOST_PARTS} parts`);
    }
    return processLine.call(this, line, isFinal);
  }
}

/** True of a message within the lines that the parser may take. */
export const hasFewLines = (message: Buffer): boolean => linesWithin(message, MOST_LINES);

function linesWithin(octets: Buffer, most: number): boolean {
  let left = most;
  for (let at = octets.indexOf(LF); at !== -1; at = octets.indexOf(LF, at + 1)) if (--left < 0) return false;
  return true;
}

/**
 * The message with its long parts as one line each, where it has too many lines: a log of a million lines is
 * read like a picture.
 */
export function withFewLines(message: Buffer): Buffer {
  if (hasFewLines(message)) return message;
  return withEdits(
    message,
    openedLeavesOf(message).flatMap((leaf) => inOneLine(message, leaf) ?? []),
  );
}

function inOneLine(message: Buffer, { start, body, end, encoding, type }: Leaf): Edit | null {
  const content = message.subarray(body, end);
  if (linesWithin(content, MANY)) return null;
  const octets = decodedOf(content, encoding.includes('quoted-printable') ? 'quoted-printable' : encoding);
  const header = withHeaderFields(message.subarray(start, body), { 'Content-Transfer-Encoding': 'base64' });
  const read = SHOWN.test(type) && encoding !== 'base64' ? withLf(octets) : octets;
  return { start, end, octets: Buffer.concat([header, Buffer.from(read.toString('base64'), 'latin1')]) };
}

/** A text with the line ends of the parser, which are not changed in base64. */
function withLf(text: Buffer): Buffer {
  const ended = Buffer.allocUnsafe(text.length + 1);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const octet = text[at] as number;
    if (octet !== CR || text[at + 1] !== LF) ended[length++] = octet;
  }
  if (ended[length - 1] !== LF) ended[length++] = LF;
  return ended.subarray(0, length);
}
