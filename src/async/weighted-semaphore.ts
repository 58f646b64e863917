/** Somebody who waits for room, and since when (monotonic). */
interface Waiting {
  readonly need: number;
  readonly since: number;
  readonly answer: (isGranted: boolean) => void;
}

/** How long those who need less may pass somebody who needs more than there is; then the room is kept for that one. */
const PASSED_FOR_MS = 5_000;

/**
 * So much at a time: attempts, or bytes. Who cannot begin, since the service stops or too many wait already, hears so at once.
 * Who needs more than there is at all gets everything: it passes alone.
 */
export class WeightedSemaphore {
  readonly #waiting: Waiting[] = [];
  #free: number;
  #stopped = false;

  constructor(
    private readonly width: number,
    private readonly monotonic: () => number,
    /** How many may wait; whoever comes then is told to come again. */
    private readonly line = Number.POSITIVE_INFINITY,
  ) {
    this.#free = width;
  }

  /** How many more would be taken in: at once, or into the line. */
  get places(): number {
    return this.#stopped ? 0 : Math.max(0, this.#free) + this.line - this.#waiting.length;
  }

  /** Whether so much was had at once; it is then given back with `release`. */
  tryTake(need = 1): boolean {
    if (this.#stopped || !this.#fits(need) || this.#isKept()) return false;
    this.#free -= this.#capped(need);
    return true;
  }

  /** Whether so much was had, sooner or later; it is then given back with `release`. */
  take(need = 1): Promise<boolean> | boolean {
    if (this.tryTake(need)) return true;
    if (this.#stopped || this.#waiting.length >= this.line) return false;
    return new Promise((answer) => this.#waiting.push({ need, since: this.monotonic(), answer }));
  }

  /** Gives back as much as was taken. */
  release(need = 1): void {
    this.#free += this.#capped(need);
    this.#admit();
  }

  /** Nobody begins any more. */
  stop(): void {
    this.#stopped = true;
    for (const { answer } of this.#waiting.splice(0)) answer(false);
  }

  #capped(need: number): number {
    return Math.min(need, this.width);
  }

  #fits(need: number): boolean {
    return this.#capped(need) <= this.#free;
  }

  /** Whether what is free is kept for the one who has waited longest. */
  #isKept(): boolean {
    const head = this.#waiting[0];
    return head !== undefined && this.monotonic() - head.since >= PASSED_FOR_MS;
  }

  #admit(): void {
    for (let index = 0; index < this.#waiting.length && this.#free > 0; ) {
      const waiting = this.#waiting[index] as Waiting;
      if (this.#fits(waiting.need)) {
        this.#waiting.splice(index, 1);
        this.#free -= this.#capped(waiting.need);
        waiting.answer(true);
      } else if (index === 0 && this.#isKept()) return;
      else index++;
    }
  }
}
