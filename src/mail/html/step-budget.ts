/**
 * The steps that one reading of html may take besides the tokens: an element whose attributes are read, a
 * rule that is compared. A newsletter of 100 kB takes a few thousand. All of them together take 60 ms.
 */
const MOST_STEPS = 500_000;
/** Steps of a text or a tag that is given to a parser: 5 to 10 µs. */
export const PARSING = 50;

/** Counts the steps of one reading. */
export class StepBudget {
  #spent = 0;

  get spent(): number {
    return this.#spent;
  }

  get isSpent(): boolean {
    return this.#spent >= MOST_STEPS;
  }

  /** Takes steps; false where there are none left. */
  take(steps: number): boolean {
    if (this.isSpent) return false;
    this.#spent += steps;
    return true;
  }
}
