/**
 * uuencode (POSIX, uuencode): lines of a length and of groups of four characters, each of six bits, between
 * `begin 644 name` and `end`.
 */

const BEGIN = /^\s*begin [0-7]{3,4} [^\n]*\n/;
/** A file begins within so many octets, behind blank lines; a text that has one further down is a text. */
const LONGEST_BEGIN = 1_024;
const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];

/** The decoded octets of the file that a content is; null where it is none. */
export function uudecoded(content: Buffer): Buffer | null {
  const begin = BEGIN.exec(content.toString('latin1', 0, LONGEST_BEGIN));
  if (!begin) return null;
  let at = begin[0].length;
  const decoded = Buffer.allocUnsafe(content.length - at);
  let length = 0;
  while (at < content.length && length < decoded.length) {
    const next = content.indexOf(LF, at);
    const behind = next === -1 ? content.length : next;
    const end = content[behind - 1] === CR ? behind - 1 : behind;
    // White space at the end of a line may be lost: a missing character is a space.
    const bits = (place: number): number =>
      ((place < end ? (content[place] ?? SPACE) : SPACE) - SPACE) & 0x3f;
    const size = at < end ? bits(at) : 0;
    // The last line has no octets: a grave accent or a space. Some programs leave it out.
    if (size === 0 || (end - at === 3 && content.toString('latin1', at, end) === 'end')) break;
    for (let from = at + 1, left = size; left > 0 && length < decoded.length; from += 4, left -= 3) {
      const group = (bits(from) << 18) | (bits(from + 1) << 12) | (bits(from + 2) << 6) | bits(from + 3);
      for (let octet = 0; octet < Math.min(3, left); octet++)
        decoded[length++] = (group >> (16 - 8 * octet)) & 0xff;
    }
    at = behind + 1;
  }
  return decoded.subarray(0, length);
}
