/** Milliseconds of work that may come at once. */
const BURST_MS = 100;

/**
 * A part of a thread's time, for work of which strangers say how much it is: the rest is left to all else
 * that the thread does.
 */
export class TimeShare {
  #owedMs = 0;
  #at: number;

  constructor(
    /** Of each second, between 0 and 1. */
    private readonly share: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#at = now();
  }

  /** False once the work of late has had its part. */
  get isLeft(): boolean {
    const now = this.now();
    this.#owedMs = Math.max(0, this.#owedMs - (now - this.#at) * this.share);
    this.#at = now;
    return this.#owedMs < BURST_MS;
  }

  /** Does work, and counts the time until it is done. */
  async count<Result>(work: () => Promise<Result>): Promise<Result> {
    const begin = this.now();
    try {
      return await work();
    } finally {
      this.#owedMs += this.now() - begin;
    }
  }
}
