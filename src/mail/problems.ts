import { type Detail, Failure, invalid } from '../http/failure.ts';

/** What is wrong with one value, as a sentence that does not repeat the value. */
export interface Problem {
  readonly problem: string;
}

/** Notes that the value at this JSON pointer is wrong. */
export type Report = (path: string, problem: string) => void;

/** A request with more wrong values than this is told of the first ones only. */
const MOST_PROBLEMS = 100;

/** All that is wrong with one request, gathered before it is refused. */
export class Problems {
  readonly #details: Detail[] = [];

  readonly report: Report = (path, message) => {
    if (this.#details.length < MOST_PROBLEMS) this.#details.push({ path, message });
  };

  /** The refusal, or null when nothing is wrong. `message` stands in for the general one. */
  failure(message?: string): Failure | null {
    if (this.#details.length === 0) return null;
    return message === undefined
      ? invalid(this.#details)
      : new Failure('VALIDATION_ERROR', message, { details: this.#details });
  }
}
