/** The transfer encodings of RFC 2045 6 over octets, and uuencode. */
import { uudecoded } from './uuencode.ts';

/** The names by which a Content-Transfer-Encoding means uuencode: no standard has one. */
export const UUENCODED = /^(?:x-)?uu(?:e|encode|encoded)$/;

/** The decoded octets of a content. An unknown encoding counts as none. */
export function decodedOf(content: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(content.toString('latin1'), 'base64');
  if (UUENCODED.test(encoding)) return uudecoded(content) ?? content;
  return encoding === 'quoted-printable' ? decodeQuoted(content) : content;
}

const LINE = 76;

const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d];

/** One pass over the octets: a pattern for white space at line ends would take the square of its length. */
function decodeQuoted(content: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(content.length);
  let length = 0;
  /** White space at the end of a line is no part of it (RFC 2045 6.7, rule 3). */
  let kept = 0;
  for (let at = 0; at < content.length; at++) {
    const octet = content[at] as number;
    if (octet === EQUALS) {
      const end = softBreakAt(content, at + 1);
      const code = end === -1 ? hexAt(content, at + 1) : -1;
      if (end !== -1) at = end - 1;
      else decoded[length++] = code === -1 ? octet : code;
      if (code !== -1) at += 2;
      kept = length;
      continue;
    }
    if (octet === CR || octet === LF) length = kept;
    decoded[length++] = octet;
    if (octet !== SPACE && octet !== TAB) kept = length;
  }
  return decoded.subarray(0, kept);
}

/** The end of the soft line break whose equals sign is before `at`; -1 where there is none. */
function softBreakAt(content: Buffer, at: number): number {
  let end = at;
  while (end - at < LINE && (content[end] === SPACE || content[end] === TAB)) end++;
  if (content[end] === CR) end++;
  if (content[end] === LF) return end + 1;
  return end >= content.length ? end : -1;
}

const hexAt = (content: Buffer, at: number): number => {
  const code = Number.parseInt(content.toString('latin1', at, at + 2), 16);
  return at + 2 <= content.length && /^[\da-f]{2}$/i.test(content.toString('latin1', at, at + 2)) ? code : -1;
};

const HEX = Buffer.from('0123456789ABCDEF');
const isPlain = (octet: number): boolean =>
  octet === TAB || (octet >= SPACE && octet <= 0x7e && octet !== EQUALS);

/** Quoted-printable of text whose lines end with CRLF; those ends stay line ends (RFC 2045 6.7). */
export function quotedPrintable(content: Buffer): Buffer {
  // Each octet becomes three at most, and a soft line break follows 73 of them at least.
  const encoded = Buffer.allocUnsafe(Math.ceil(content.length * 3.2) + 16);
  let [length, lineStart] = [0, 0];
  for (let at = 0; at < content.length; at++) {
    const octet = content[at] as number;
    const isEnd = (from: number): boolean => content[from] === CR && content[from + 1] === LF;
    if (isEnd(at)) {
      encoded[length++] = CR;
      encoded[length++] = LF;
      at++;
      lineStart = length;
      continue;
    }
    const isLast = at + 1 === content.length || isEnd(at + 1);
    // White space at the end of a line would be lost on the way.
    const asItIs = isPlain(octet) && !(isLast && (octet === SPACE || octet === TAB));
    if (length - lineStart + (asItIs ? 1 : 3) > (isLast ? LINE : LINE - 1)) {
      encoded[length++] = EQUALS;
      encoded[length++] = CR;
      encoded[length++] = LF;
      lineStart = length;
    }
    if (asItIs) encoded[length++] = octet;
    else {
      encoded[length++] = EQUALS;
      encoded[length++] = HEX[octet >> 4] as number;
      encoded[length++] = HEX[octet & 15] as number;
    }
  }
  return encoded.subarray(0, length);
}

/** Base64 in lines of 76 characters, without a line end behind the last one. */
export const base64Lines = (content: Buffer): Buffer =>
  Buffer.from(content.toString('base64').replace(/.{76}(?!$)/g, '$&\r\n'), 'latin1');
