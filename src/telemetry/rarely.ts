import type { Logger } from './logger.ts';

/**
 * Limits a warning that may be due many times a second: the first is logged, and then one in `everyMs` with the number of
 * warnings since.
 */
export function rarely(
  log: Pick<Logger, 'warn'>,
  monotonic: () => number,
  everyMs = 60_000,
): (fields: Readonly<Record<string, unknown>>, message: string) => void {
  let nextAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (fields, message) => {
    if (monotonic() < nextAt) {
      unsaid += 1;
      return;
    }
    nextAt = monotonic() + everyMs;
    log.warn({ ...fields, ...(unsaid > 0 && { alsoSinceThen: unsaid }) }, message);
    unsaid = 0;
  };
}
