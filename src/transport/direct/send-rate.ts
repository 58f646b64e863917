import type { Monotonic } from '../monotonic.ts';

/** Spreads turns evenly: so many a second, up to one second's worth at once after a pause. */
export class SendRate {
  #next = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly perSecond: number,
    private readonly monotonic: Monotonic,
  ) {}

  /** Settles when it is this caller's turn, true; or when the signal fires, false. */
  turn(signal: AbortSignal): Promise<boolean> {
    const now = this.monotonic();
    const at = Math.max(this.#next, now - 1_000);
    this.#next = at + 1_000 / this.perSecond;
    if (at <= now || signal.aborted) return Promise.resolve(!signal.aborted);
    return new Promise((resolve) => {
      const end = (turn: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(turn);
      };
      const abort = () => end(false);
      const timer = setTimeout(() => end(true), at - now);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
