/** The method of a logger that warnings go through. */
interface WarningLog {
  warn(fields: object, message: string): void;
}

/** The most warnings that are logged within that many milliseconds. */
export interface Rarity {
  readonly everyMs: number;
  readonly most: number;
}

const ONE_A_MINUTE: Rarity = { everyMs: 60_000, most: 1 };

/**
 * Limits a warning that may be due many times a second: the first `most` in `everyMs` are logged, the rest is
 * counted, and the next that is logged says how many those were.
 */
export function rarely(
  log: WarningLog,
  monotonic: () => number,
  { everyMs, most }: Rarity = ONE_A_MINUTE,
): (fields: Readonly<Record<string, unknown>>, message: string) => void {
  let endsAt = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let unsaid = 0;
  return (fields, message) => {
    const now = monotonic();
    if (now >= endsAt) {
      endsAt = now + everyMs;
      logged = 0;
    }
    if (logged >= most) {
      unsaid += 1;
      return;
    }
    logged += 1;
    log.warn({ ...fields, ...(unsaid > 0 && { alsoSinceThen: unsaid }) }, message);
    unsaid = 0;
  };
}
