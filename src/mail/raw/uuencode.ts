/**
 * uuencode (POSIX, uuencode): lines of a length and of groups of four characters, each of six bits, between
 * `begin 644 name` and `end`.
 */

const BEGIN = /(?:^|\n)begin(-base64)? [0-7]{3,4} [^\n]*\n/;
const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];
const bitsOf = (octet: number | undefined): number => ((octet ?? SPACE) - SPACE) & 0x3f;

/** The decoded octets of the first file in a content; null where there is none. */
export function uudecoded(content: Buffer): Buffer | null {
  const begin = BEGIN.exec(content.toString('latin1'));
  if (!begin) return null;
  let at = begin.index + begin[0].length;
  if (begin[1] !== undefined) {
    const end = content.indexOf('\n====', at, 'latin1');
    return Buffer.from(content.toString('latin1', at, end === -1 ? content.length : end), 'base64');
  }
  const decoded = Buffer.allocUnsafe(content.length - at);
  let length = 0;
  while (at < content.length) {
    const next = content.indexOf(LF, at);
    const end = next === -1 ? content.length : next;
    const size = bitsOf(content[at]);
    // The last line has no octets: a grave accent or a space.
    if (size === 0 || content[at] === CR || content[at] === LF) break;
    const line = content.subarray(at + 1, content[end - 1] === CR ? end - 1 : end);
    for (let from = 0, left = size; left > 0 && length < decoded.length; from += 4, left -= 3) {
      // White space at the end of a line may be lost: a missing character is a space.
      const group =
        (bitsOf(line[from]) << 18) |
        (bitsOf(line[from + 1]) << 12) |
        (bitsOf(line[from + 2]) << 6) |
        bitsOf(line[from + 3]);
      for (let octet = 0; octet < Math.min(3, left); octet++)
        decoded[length++] = (group >> (16 - 8 * octet)) & 0xff;
    }
    at = end + 1;
  }
  return decoded.subarray(0, length);
}
