/**
 * Soft line breaks of quoted-printable (RFC 2045 6.7), at the places where nodemailer's composer puts them.
 */

const LINE = 76;
/**
 * The end of a line in which a space or a full stop is looked for, and the least length of a line that is cut
 * there.
 */
const MARGIN = 25;
const LEAST = LINE - MARGIN;
const BREAKS: ReadonlySet<string> = new Set([' ', '\t', '.', ',', '!', '?']);

/** A line that was encoded, with soft breaks. A text that fits into one line has none. */
export const wrapped = (encoded: string): string => {
  if (encoded.length <= LINE) return encoded;
  const lines = encoded.split('\r\n');
  const last = lines.length - 1;
  return lines.map((line, index) => laidOut(line, index === last ? '' : '\r\n')).join('\r\n');
};

/**
 * The lines of one encoded line, which `end` follows: the composer looks for a shorter last line as well,
 * where nothing does.
 */
export function laidOut(line: string, end: '' | '\r\n'): string {
  const all = line + end;
  const most = end === '' ? 0 : LINE;
  let pieces = '';
  let from = 0;
  while (all.length - from > most) {
    const to = cutOf(all, from);
    if (to === all.length) break;
    pieces += `${all.slice(from, to)}=\r\n`;
    from = to;
  }
  return pieces + line.slice(from);
}

/** The position at which the line that begins at `from` ends. */
function cutOf(all: string, from: number): number {
  const most = Math.min(all.length, from + LINE);
  let to = most;
  const space = most - from > LEAST ? spaceBefore(all, most) : -1;
  if (space !== -1) to = space + 1;
  else if (hasSequenceAt(all, from, most)) to = wholeCharacters(all, from, most);
  if (to === from) to = most;
  if (to === all.length || to - from < LINE) return to;
  return to - (all[to - 3] === '=' ? 3 : 1);
}

function spaceBefore(all: string, to: number): number {
  for (let at = to - 1; at >= to - MARGIN; at--) if (BREAKS.has(all[at] ?? '')) return at;
  return -1;
}

/** True where an octet that was encoded ends there, or was begun. */
const hasSequenceAt = (all: string, from: number, to: number): boolean => {
  const at = all.lastIndexOf('=', to - 1);
  return at >= from && at >= to - 3;
};

/** Cuts before an octet that does not fit, and before the character of UTF-8 that it is a part of. */
function wholeCharacters(all: string, from: number, most: number): number {
  let to = most;
  if (all[to - 1] === '=') to -= 1;
  else if (all[to - 2] === '=') to -= 2;
  while (to - from > 3 && to < all.length && all[to - 3] === '=' && !isOneCharacter(all, from, to)) {
    const octet = Number.parseInt(all.slice(to - 2, to), 16);
    if (octet < 0x80) break;
    to -= 3;
    if (octet >= 0xc0) break;
  }
  return to;
}

/** True of a line of one to four encoded octets and nothing else. */
function isOneCharacter(all: string, from: number, to: number): boolean {
  if (to - from > 12 || (to - from) % 3 !== 0) return false;
  for (let at = from; at < to; at += 3) if (all[at] !== '=') return false;
  return true;
}
