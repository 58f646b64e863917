import { endOfHeader } from '../raw/header-editor.ts';

export interface MailLimits {
  readonly lines: number;
  /** Lines that begin with two hyphens, like those between parts. */
  readonly delimiters: number;
}

const LF = 0x0a;
const CR = 0x0d;
const HYPHEN = 0x2d;

/** Octets and parts of a message that is read within some milliseconds, whatever it holds. */
const SHORT = { octets: 16_384, header: 4_096, limits: { lines: 512, delimiters: 16 } } as const;

/**
 * True for a mail that may be read where it is: the way to a thread and back takes longer than to read a
 * usual one.
 */
export const isShort = (raw: Buffer): boolean =>
  raw.length <= SHORT.octets && endOfHeader(raw) <= SHORT.header && isWithin(raw, SHORT.limits);

/**
 * True when a mail is within both limits. A bare CR ends a line as well: it becomes CRLF before the parser
 * sees it.
 */
export function isWithin(raw: Uint8Array, { lines, delimiters }: MailLimits): boolean {
  let linesLeft = lines;
  let delimitersLeft = delimiters;
  const isOver = (at: number): boolean =>
    --linesLeft < 0 || (raw[at + 1] === HYPHEN && raw[at + 2] === HYPHEN && --delimitersLeft < 0);
  for (let at = raw.indexOf(LF); at !== -1; at = raw.indexOf(LF, at + 1)) if (isOver(at)) return false;
  for (let at = raw.indexOf(CR); at !== -1; at = raw.indexOf(CR, at + 1))
    if (raw[at + 1] !== LF && isOver(at)) return false;
  return true;
}
