interface RoomLimits {
  /** There is always room for so many. */
  readonly least: number;
  /** There is never room for more. */
  readonly most: number;
}

/** Orders that come too late have waited for longer than this. */
const WINDOW_MS = 15_000;

/**
 * The number of due actors of one kind that are worth waking. An order that waits too long for its turn is
 * left to its lease, and its actor is woken again: that is a write, and reading what the order needs. On a
 * slow machine with a backlog of 41,000 webhook deliveries nearly all of its time went to this (an hour of
 * torture beside other work, 2026-11-29: 60 turns for each delivery before its first POST). After a window
 * with such orders there is room for as many as that window has carried out, after one without them for twice
 * as many as before.
 */
export class TimelyRoom {
  #size: number;
  #carriedOut = 0;
  #isLate = false;
  #windowEnd: number;

  constructor(
    private readonly limits: RoomLimits,
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    this.#size = limits.most;
    this.#windowEnd = monotonic() + WINDOW_MS;
  }

  /** Actors whose orders may run or wait at once. */
  get size(): number {
    this.#turn();
    return this.#size;
  }

  /** Takes note of an order that has ended; `isLate` if nothing came of it. */
  ended(isLate: boolean): void {
    this.#turn();
    if (isLate) this.#isLate = true;
    else this.#carriedOut += 1;
  }

  #turn(): void {
    const now = this.monotonic();
    if (now < this.#windowEnd) return;
    const { least, most } = this.limits;
    this.#size = this.#isLate ? Math.max(least, this.#carriedOut) : this.#size * 2;
    this.#size = Math.min(this.#size, most);
    this.#carriedOut = 0;
    this.#isLate = false;
    this.#windowEnd = now + WINDOW_MS;
  }
}
