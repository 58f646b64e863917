import type { Leaf } from '../mime-tree.ts';
import { withContentParameter, withHeaderFields } from '../parameters.ts';
import { base64Lines, decodedOf, quotedPrintable } from '../transfer.ts';
import type { Edit } from '../wire-form.ts';
import { LARGEST_TEXT } from './charsets.ts';

/**
 * Texts of `format=flowed` (RFC 3676), whose lines are joined here. The parser, postal-mime 4.0.0, joins a
 * quoted line with an answer below it where the quoted one ends with a space, so that the answer counts as
 * quoted; and it keeps the quote marks of joined lines.
 */

/** Charsets whose line ends are not the octets of ASCII. */
const WIDE = /^(?:utf|ucs|iso-10646-ucs)-?(?:16|32|2|4)/;

/** True for a message that may have such a text. */
export const mayBeFlowed = (message: Buffer): boolean =>
  message.includes('lowed') || message.includes('LOWED');

/** The change by which a part has lines that are not joined any more; null for any other part. */
export function joinedLinesOf(
  message: Buffer,
  { start, body, end, type, charset, parameters, encoding, disposition }: Leaf,
): Edit | null {
  if (
    type !== 'text/plain' ||
    disposition === 'attachment' ||
    WIDE.test(charset) ||
    end - body > LARGEST_TEXT
  )
    return null;
  const says = (name: string, value: string) => parameters.get(name)?.toLowerCase() === value;
  if (!says('format', 'flowed')) return null;
  const header = withContentParameter(message.subarray(start, body), 'format', 'fixed');
  if (header === null) return null;
  const text = decodedOf(message.subarray(body, end), encoding).toString('latin1');
  const joined = joinedLines(text, says('delsp', 'yes'));
  // The space that is taken out may have kept a line from being a delimiter of parts (4.4).
  if (!/base64|quoted-printable/.test(encoding) && /^--/m.test(joined)) {
    const inBase64 = withHeaderFields(header, { 'Content-Transfer-Encoding': 'base64' });
    const lines = joined.replaceAll('\r\n', '\n').replace(/(?<!\n)$/, '\n');
    return { start, end, octets: Buffer.concat([inBase64, base64Lines(Buffer.from(lines, 'latin1'))]) };
  }
  const octets = encoded(Buffer.from(joined, 'latin1'), encoding);
  return { start, end, octets: Buffer.concat([header, octets]) };
}

function encoded(content: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return base64Lines(content);
  // A line of the text must not become a delimiter of parts.
  return encoding === 'quoted-printable'
    ? Buffer.from(quotedPrintable(content).toString('latin1').replace(/^--/gm, '=2D-'), 'latin1')
    : content;
}

interface FlowedLine {
  /** The number of quote marks. */
  readonly depth: number;
  readonly content: string;
}

/** The line without its quote marks, and without the space that was put before its text (4.4, 4.5). */
function lineOf(line: string): FlowedLine {
  let depth = 0;
  while (line[depth] === '>') depth++;
  return { depth, content: line.slice(line[depth] === ' ' ? depth + 1 : depth) };
}

/**
 * A line flows into the next one of as many quote marks (4.1, 4.5), unless one of both is the line above a
 * signature (4.3).
 */
function joinedLines(text: string, deletesSpace: boolean): string {
  const joined: FlowedLine[] = [];
  let isOpen = false;
  for (const each of text.split(/\r?\n/)) {
    const { depth, content } = lineOf(each);
    const isSignature = content === '-- ';
    const above = joined.at(-1);
    const flows = content.endsWith(' ') && !isSignature;
    const kept = flows && deletesSpace ? content.slice(0, -1) : content;
    if (isOpen && above?.depth === depth && !isSignature)
      joined[joined.length - 1] = { depth, content: above.content + kept };
    else joined.push({ depth, content: kept });
    isOpen = flows;
  }
  return joined
    .map(({ depth, content }) => (depth === 0 ? content : `${'>'.repeat(depth)} ${content}`))
    .join('\r\n');
}
