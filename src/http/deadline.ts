import { Unavailable } from '../db/unavailable.ts';

/** How long the service waits within one request, in milliseconds. */
export interface Patience {
  /** For its own work, so that the answer is there within 8 s. Bun would cut a silent connection at its idle timeout. */
  readonly workMs: number;
  /** For the client to send a body: 30 MiB over a slow line is honest, a byte every ten seconds is not. */
  readonly bodyMs: number;
}

/** What holds unless a test is in a hurry. */
export const PATIENCE: Patience = { workMs: 7_900, bodyMs: 120_000 };

/** The work's own outcome, or Unavailable when `ms` have passed first; the work itself goes on unheard. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Unavailable('the deadline passed', 'unknown')), Math.max(0, ms));
  work.then(
    (value) => {
      clearTimeout(timer);
      resolve(value);
    },
    (reason: unknown) => {
      clearTimeout(timer);
      reject(reason);
    },
  );
  return promise;
}
