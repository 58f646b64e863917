/** A caller that waits, and the monotonic time since when. */
interface SemaphoreWaiter {
  readonly need: number;
  readonly since: number;
  readonly answer: (isGranted: boolean) => void;
}

/**
 * The time for which smaller requests may overtake a larger one. After that, freed units are kept for the
 * larger one.
 */
const OVERTAKEN_FOR_MS = 5_000;

/**
 * A semaphore whose callers take any number of units: attempts, sessions, or bytes. Callers wait in the order
 * they came. One is refused at once when the semaphore has stopped or too many wait already. One that needs
 * more than all units gets them all, and so runs alone.
 */
export class Semaphore {
  readonly #waiting: SemaphoreWaiter[] = [];
  readonly #drained: (() => void)[] = [];
  #free: number;
  #units: number;
  #stopped = false;

  constructor(
    units: number,
    private readonly monotonic: () => number = () => performance.now(),
    /** The most callers that may wait; further ones are refused. */
    private readonly mostWaiting = Number.POSITIVE_INFINITY,
  ) {
    this.#free = units;
    this.#units = units;
  }

  /** The number of callers of one unit that would be let in or may wait. */
  get capacity(): number {
    return this.#stopped ? 0 : Math.max(0, this.#free) + this.mostWaiting - this.#waiting.length;
  }

  /** Milliseconds that the next caller has waited; 0 while no caller waits. */
  get waitedMs(): number {
    const head = this.#waiting[0];
    return head === undefined ? 0 : this.monotonic() - head.since;
  }

  /** The number of units that there are. */
  get units(): number {
    return this.#units;
  }

  /** The number of units that are taken. */
  get taken(): number {
    return this.#units - this.#free;
  }

  /**
   * The number of units that are not. Fewer than none after a `resize`, until enough have been given back.
   */
  get free(): number {
    return this.#free;
  }

  /** The number of callers that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Sets the number of units. Where more are taken, no caller is let in until enough have been given back.
   */
  resize(units: number): void {
    this.#free += units - this.#units;
    this.#units = units;
    this.#admit();
  }

  /** True when no unit is taken, and so no caller waits. */
  get idle(): boolean {
    return this.#free === this.#units;
  }

  /** Settles when all units have been given back. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.idle) resolve();
      else this.#drained.push(resolve);
    });
  }

  /** Takes units if they are free now; the caller gives them back with `release`. */
  tryTake(need = 1): boolean {
    if (this.#stopped || !this.#fits(need) || this.#isReserved()) return false;
    this.#free -= this.#capped(need);
    return true;
  }

  /**
   * Takes units, now or later; false when refused, or when the signal fires first. The caller gives them back
   * with `release`.
   */
  take(need = 1, signal?: AbortSignal): Promise<boolean> | boolean {
    if (signal?.aborted) return false;
    if (this.tryTake(need)) return true;
    if (this.#stopped || this.#waiting.length >= this.mostWaiting) return false;
    return new Promise((resolve) => {
      const answer = (isGranted: boolean) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(isGranted);
      };
      const waiting = { need, since: this.monotonic(), answer };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(false);
        this.#admit();
      };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Gives back units that were taken. */
  release(need = 1): void {
    this.#free += this.#capped(need);
    this.#admit();
    if (this.idle) for (const drained of this.#drained.splice(0)) drained();
  }

  /** Runs `work` with one unit; rejects with the error of `refused` if there is none. */
  async run<T>(
    work: () => Promise<T>,
    signal?: AbortSignal,
    refused = () => new Error('Gave up waiting'),
  ): Promise<T> {
    if (!(await this.take(1, signal))) throw refused();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Refuses all callers from now on, waiting ones included. */
  stop(): void {
    this.#stopped = true;
    for (const { answer } of this.#waiting.splice(0)) answer(false);
  }

  #capped(need: number): number {
    return Math.min(need, this.#units);
  }

  #fits(need: number): boolean {
    return this.#capped(need) <= this.#free;
  }

  /** True when free units are kept for the caller that has waited longest. */
  #isReserved(): boolean {
    return this.waitedMs >= OVERTAKEN_FOR_MS;
  }

  #admit(): void {
    for (let index = 0; index < this.#waiting.length && this.#free > 0; ) {
      const waiting = this.#waiting[index] as SemaphoreWaiter;
      if (this.#fits(waiting.need)) {
        this.#waiting.splice(index, 1);
        this.#free -= this.#capped(waiting.need);
        waiting.answer(true);
      } else if (index === 0 && this.#isReserved()) return;
      else index++;
    }
  }
}
