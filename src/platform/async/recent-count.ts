const STRETCH_MS = 250;
const STRETCHES = 4;

/** Counts what happened within the last second, to a quarter of it. */
export class RecentCount {
  /** The counts of the latest stretches, the present one first. */
  #counts: number[] = [0];
  #since: number;

  constructor(private readonly monotonic: () => number) {
    this.#since = monotonic();
  }

  note(): void {
    this.#move();
    this.#counts[0] = (this.#counts[0] ?? 0) + 1;
  }

  /** The number of occurrences in the last second. */
  get perSecond(): number {
    this.#move();
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  #move(): void {
    const passed = Math.floor((this.monotonic() - this.#since) / STRETCH_MS);
    if (passed <= 0) return;
    this.#since += passed * STRETCH_MS;
    const empty = Array.from({ length: Math.min(passed, STRETCHES + 1) }, () => 0);
    // One stretch more than the second holds, since the present one has only begun.
    this.#counts = [...empty, ...this.#counts].slice(0, STRETCHES + 1);
  }
}
