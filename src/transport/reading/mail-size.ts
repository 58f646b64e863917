/** What a mail parser is given at most; it takes 2 µs for each line, and 30 µs for each part (measured). */
export interface MailLimits {
  readonly lines: number;
  /** Lines that begin with two hyphens, as those between parts do. */
  readonly delimiters: number;
}

/** 25 MiB in base64 are 400,000 lines. A message of ours has a few parts, and a dump of a database many comments. */
export const MAIL_LIMITS: MailLimits = { lines: 1_000_000, delimiters: 10_000 };

const NEWLINE = 0x0a;
const HYPHEN = 0x2d;

/** Whether a mail has no more of either: 25 MiB of base64 take 20 ms to look at, and nothing longer. */
export function isWithin(raw: Uint8Array, { lines, delimiters }: MailLimits = MAIL_LIMITS): boolean {
  let linesLeft = lines;
  let delimitersLeft = delimiters;
  for (let at = raw.indexOf(NEWLINE); at !== -1; at = raw.indexOf(NEWLINE, at + 1)) {
    if (--linesLeft < 0) return false;
    if (raw[at + 1] === HYPHEN && raw[at + 2] === HYPHEN && --delimitersLeft < 0) return false;
  }
  return true;
}
