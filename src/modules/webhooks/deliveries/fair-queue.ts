import { type SlotLimits, Slots } from './slots.ts';

type Start = (granted: boolean) => void;

/** Runs work of many keys within slots: what finds no place, or is still waiting when all ends, is not done. */
export class FairQueue {
  readonly #slots: Slots<Start>;
  readonly #waiting = new Set<Start>();
  #closed = false;

  constructor(limits: SlotLimits) {
    this.#slots = new Slots(limits);
  }

  /** Does the work when it is the key's turn; null when that never comes. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result | null> {
    if (!(await this.#granted(key))) return null;
    try {
      return await work();
    } finally {
      this.#slots.finish(key);
      this.#startNext();
    }
  }

  /** Nothing starts from now on; what waits is told so. */
  close(): void {
    this.#closed = true;
    for (const start of this.#waiting) start(false);
    this.#waiting.clear();
  }

  #granted(key: string): Promise<boolean> {
    return new Promise((start) => {
      if (this.#closed || !this.#slots.offer(key, start)) return start(false);
      this.#waiting.add(start);
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#closed) return;
    for (let next = this.#slots.start(); next; next = this.#slots.start()) {
      this.#waiting.delete(next.work);
      next.work(true);
    }
  }
}
