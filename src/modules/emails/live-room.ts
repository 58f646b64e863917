/** Somebody who waits for room, since and until when (monotonic) that makes sense. */
interface Waiting {
  readonly need: number;
  readonly since: number;
  readonly until: number;
  readonly answer: (isGranted: boolean) => void;
}

/** How long those who need less may pass somebody who needs more than there is; then the room is kept for that one. */
const PASSED_FOR_MS = 5_000;

/**
 * So much at a time: attempts, or bytes. Who cannot begin in time, or at all since the service stops, hears so while
 * there is still time to say it. Who needs more than there is at all gets everything: it passes alone.
 */
export class LiveRoom {
  #waiting: Waiting[] = [];
  #free: number;
  #stopped = false;
  #timer: Timer | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly width: number,
    private readonly monotonic: () => number,
    /** How many may wait; whoever comes then is told to come again. */
    private readonly line = Number.POSITIVE_INFINITY,
  ) {
    this.#free = width;
  }

  /** Whether so much was had at once; it is then given back with `release`. */
  tryTake(need = 1): boolean {
    if (this.#stopped || !this.#fits(need) || this.#isKept()) return false;
    this.#free -= this.#capped(need);
    return true;
  }

  /** Whether so much was had within so many milliseconds; it is then given back with `release`. */
  take(withinMs: number, need = 1): Promise<boolean> | boolean {
    if (this.#stopped || withinMs <= 0) return false;
    if (this.tryTake(need)) return true;
    if (this.#waiting.length >= this.line) return false;
    return new Promise((answer) => {
      const since = this.monotonic();
      const until = since + withinMs;
      this.#waiting.push({ need, since, until, answer });
      if (until < this.#wakesAt) this.#watch();
    });
  }

  /** Gives back as much as was taken. */
  release(need = 1): void {
    this.#free += this.#capped(need);
    this.#admit();
  }

  /** Nobody begins any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
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

  /** Sees to it that whoever's time is over first hears of it then. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#wakesAt = Math.min(...this.#waiting.map(({ until }) => until));
    if (this.#waiting.length > 0)
      this.#timer = setTimeout(() => this.#expire(), this.#wakesAt - this.monotonic());
  }

  #expire(): void {
    const { late = [], left = [] } = Object.groupBy(this.#waiting, ({ until }) =>
      until <= this.monotonic() + 1 ? 'late' : 'left',
    );
    this.#waiting = left;
    for (const { answer } of late) answer(false);
    // The room may have been kept for one of those who gave up.
    this.#admit();
    this.#watch();
  }
}
