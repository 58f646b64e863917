/**
 * Signatures that are checked, the uppermost ones. mailauth 7.1 checks all, and hashes the body once more for
 * each length in `l=`: a thousand of them over 10 MiB would take minutes. Usual mail has one to three.
 */
export const MOST_SIGNATURES = 10;
/** Octets of a header. Usual ones have 10 KiB; Gmail refuses 500. */
export const LARGEST_HEADER = 262_144;

const SIGNATURE = /^dkim-signature[ \t]*:/i;

/** The message with at most ten signatures; null when its header is too large to be checked. */
export function boundedHeader(raw: Uint8Array): Buffer | null {
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = headerEnd(message);
  if (end > LARGEST_HEADER) return null;
  // A field begins at each line that does not begin with white space (RFC 5322 2.2.3).
  const fields = message.toString('latin1', 0, end).split(/(?<=\n)(?![ \t])/);
  let signatures = 0;
  const kept = fields.filter((field) => !SIGNATURE.test(field) || ++signatures <= MOST_SIGNATURES);
  if (kept.length === fields.length) return message;
  return Buffer.concat([Buffer.from(kept.join(''), 'latin1'), message.subarray(end)]);
}

/** The position behind the empty line, or of the end where there is none. */
function headerEnd(message: Buffer): number {
  const crlf = message.indexOf('\r\n\r\n');
  const lf = message.indexOf('\n\n');
  const ends = [crlf === -1 ? message.length : crlf + 2, lf === -1 ? message.length : lf + 1];
  return Math.min(...ends);
}
