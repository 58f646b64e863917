/**
 * Counts statements at their begin and at their end, so that a look can tell if this process may have changed
 * something since the last one: a statement that was open during a look may have been missed by it.
 */
export class WorkCount {
  #count = 0;

  get value(): number {
    return this.#count;
  }

  /** Does the work of a statement. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count++;
    }
  }
}
