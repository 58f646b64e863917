import { Unavailable } from '../db/unavailable.ts';

/** How long a request may work before it is answered 503. Bun would cut the connection at its idle timeout instead. */
export const DEADLINE_MS = 8_000;

/** The work's own outcome, or Unavailable when `ms` have passed first; the work itself goes on unheard. */
export function within<T>(ms: number, work: T | Promise<T>): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
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
