/** The number of items inside from which on a batch waits for more; with fewer, no item waits for others. */
const MANY = 16;
/** The part of the largest number inside that is still expected after each batch. */
const FADING = 0.95;
/** The share of expected items that counts as all of them. */
const NEARLY_ALL = 0.9;
/** The longest that a batch waits for more, however long others took. */
const LONGEST_MS = 8;

/**
 * Decides when a batch leaves whose cost is nearly fixed (a commit: 330 µs of PostgreSQL, as much as eleven
 * emails). Of 64 clients that wait for their replies, the few whose batch has just returned ask again, and if
 * their requests leave at once, batches never grow beyond nine. So a batch waits until it has half of those
 * lately inside, waiting and under way, and two take turns; but for no longer than half of a batch's
 * duration, or the whole of it beside one that is under way, and not at all with few inside.
 */
export class Gathering {
  #inside = 0;
  /** Milliseconds that batches take, as of late. */
  #batchMs = 1;

  /**
   * For how many more milliseconds a batch may wait, counted from when it could have left; 0: it leaves now.
   * `waiting` would leave, `underWay` are in batches that have left.
   */
  patience(waiting: number, underWay: number): number {
    this.#inside = Math.max(waiting + underWay, this.#inside);
    if (this.#inside < MANY) return 0;
    const enough = Math.min(this.#inside / 2, this.#inside * NEARLY_ALL - underWay);
    if (waiting >= enough) return 0;
    return Math.min(LONGEST_MS, Math.max(1, underWay > 0 ? this.#batchMs : this.#batchMs / 2));
  }

  /**
   * True when the waiting items are half of those that were lately inside. All of 64 requests that come in
   * one turn of the event loop would else be one batch, beside which either side is idle half of the time.
   */
  isHalf(waiting: number, underWay: number): boolean {
    this.#inside = Math.max(waiting + underWay, this.#inside);
    return waiting >= Math.max(MANY, this.#inside / 2);
  }

  /** A batch has left. */
  left(): void {
    this.#inside *= FADING;
  }

  /** A batch has returned after this many milliseconds. */
  returned(ms: number): void {
    this.#batchMs += (ms - this.#batchMs) / 8;
  }
}
