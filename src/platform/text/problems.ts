import { type Detail, Failure, invalid } from '../errors/failure.ts';

/** The fault of one value, as a sentence that does not repeat the value. */
export interface Problem {
  readonly problem: string;
}

/** Reports that the value at this JSON pointer is wrong. */
export type Report = (path: string, problem: string) => void;

/** The most wrong values that an answer lists. */
const MOST_PROBLEMS = 100;

/** Collects every wrong value of a request before it is refused. */
export class Problems {
  readonly #details: Detail[] = [];

  readonly report: Report = (path, message) => {
    if (this.#details.length < MOST_PROBLEMS) this.#details.push({ path, message });
  };

  /** The refusal, or null when nothing is wrong. `message` replaces the general one. */
  failure(message?: string): Failure | null {
    if (this.#details.length === 0) return null;
    return message === undefined
      ? invalid(this.#details)
      : new Failure('VALIDATION_ERROR', message, { details: this.#details });
  }
}
