import postgres from 'postgres';
import { codeOf } from '../sqlstate.ts';

/** The server function that raises each error; PostgreSQL reports it as `routine`. */
const routines = new WeakMap<object, unknown>();

/**
 * Hides the `routine` of an error from postgres.js 3.4.9. When the server has lost a prepared statement,
 * which the driver recognises by that routine, the driver sends it again unasked. It serializes the
 * parameters a second time then (`true` became `false`, JSON a JSON string of itself), and does not hold back
 * the statements behind it: they hung, or got each other's rows (tests/unit/hazards.test.ts). It has no
 * option for that.
 */
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  configurable: true,
  get: () => undefined,
  set(this: object, routine: unknown) {
    routines.set(this, routine);
  },
});

/**
 * True when the server has lost the statement that it was to run, or kept it for tables that have changed
 * since.
 */
export function isForgotten(error: unknown): boolean {
  if (codeOf(error) === '26000') return true;
  if (typeof error !== 'object' || error === null) return false;
  return routines.get(error) === 'RevalidateCachedQuery' || ('cause' in error && isForgotten(error.cause));
}

const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;

/**
 * Decides whether connections keep statements by name. Once the server has lost one, statements have no names
 * for a while: a pooler that gives each transaction another backend loses all of them, and each new name
 * would stay on one of its backends.
 */
export class KeptStatements {
  #restMs = FIRST_REST_MS;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  get areOn(): boolean {
    return this.monotonic() >= this.#restsUntil;
  }

  /**
   * Notes a statement that the server has lost; true the first time: connections that know names must not be
   * used again. Behind a pooler that loses them they stay off.
   */
  forgotten({ isPooled = false } = {}): boolean {
    if (!this.areOn) return false;
    this.#restsUntil = isPooled ? Number.POSITIVE_INFINITY : this.monotonic() + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS);
    return true;
  }
}
