import type { MonotonicClock } from '../../../platform/time/monotonic.ts';

/** A caller that waits for its turn. */
type Turn = () => void;

/**
 * Spreads messages evenly over time; after a pause, the messages of up to one second may leave at once.
 * Callers have their turns in the order in which they came. One that gives up leaves its turn to the next,
 * since otherwise a rate that is slower than callers are patient would hand out ever later turns to no one.
 */
export class SendRate {
  readonly #waiting = new Set<Turn>();
  #intervalMs: number;
  #next = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(
    perMinute: number,
    private readonly monotonic: MonotonicClock,
  ) {
    this.#intervalMs = 60_000 / perMinute;
  }

  /**
   * Sets another rate. A turn that a caller waits for already comes at its time; those after it by the new
   * rate.
   */
  resize(perMinute: number): void {
    this.#intervalMs = 60_000 / perMinute;
  }

  /** Settles with true when the caller may send, and with false when the signal fires first. */
  next(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#waiting.size === 0 && this.#take()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const turn = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.delete(turn);
        if (this.#waiting.size === 0) this.#rest();
        resolve(false);
      };
      this.#waiting.add(turn);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#wake();
    });
  }

  /** Takes the next turn where its time has come. */
  #take(): boolean {
    const now = this.monotonic();
    if (this.#next > now) return false;
    this.#next = Math.max(this.#next, now - 1_000) + this.#intervalMs;
    return true;
  }

  #wake(): void {
    // A timer that fires early by the monotonic clock is set again.
    this.#timer ??= setTimeout(
      () => {
        this.#rest();
        for (const turn of this.#waiting) {
          if (!this.#take()) break;
          this.#waiting.delete(turn);
          turn();
        }
        if (this.#waiting.size > 0) this.#wake();
      },
      Math.max(0, this.#next - this.monotonic()),
    );
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
