import type { Monotonic } from '../monotonic.ts';

/** Spreads messages evenly over time; after a pause, the messages of up to one second may leave at once. */
export class SendRate {
  #next = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly perSecond: number,
    private readonly monotonic: Monotonic,
  ) {}

  /** Settles with true when the caller may send, and with false when the signal fires first. */
  next(signal: AbortSignal): Promise<boolean> {
    const now = this.monotonic();
    const at = Math.max(this.#next, now - 1_000);
    this.#next = at + 1_000 / this.perSecond;
    if (at <= now || signal.aborted) return Promise.resolve(!signal.aborted);
    return new Promise((resolve) => {
      const end = (maySend: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(maySend);
      };
      const abort = () => end(false);
      const timer = setTimeout(() => end(true), at - now);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
