/** Somebody who waits for a slot, and the monotonic moment until which that makes sense. */
interface Waiting {
  readonly until: number;
  readonly answer: (isGranted: boolean) => void;
}

/** So many at a time. Who cannot begin in time, or at all since the service stops, hears so while there is still time to say it. */
export class LiveSlots {
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #stopped = false;
  #timer: Timer | undefined;

  constructor(
    private readonly width: number,
    private readonly monotonic: () => number,
    /** Those who may hold a slot or wait for one; whoever comes then is told to come again. */
    private readonly atMost = Number.POSITIVE_INFINITY,
  ) {}

  /** Whether a slot was had within so many milliseconds; it is then given back with `release`. */
  take(withinMs: number): Promise<boolean> | boolean {
    if (this.#stopped || withinMs <= 0) return false;
    if (this.#taken < this.width) {
      this.#taken++;
      return true;
    }
    if (this.#taken + this.#waiting.length >= this.atMost) return false;
    return new Promise((answer) => {
      this.#waiting.push({ until: this.monotonic() + withinMs, answer });
      this.#timer ??= setTimeout(() => this.#expire(), withinMs);
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next.answer(true);
    else this.#taken--;
  }

  /** Nobody begins any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { answer } of this.#waiting.splice(0)) answer(false);
  }

  /** They waited about equally long when they came, so those at the head are the first whose time is over. */
  #expire(): void {
    const now = this.monotonic();
    while ((this.#waiting[0]?.until ?? Number.POSITIVE_INFINITY) <= now + 1)
      this.#waiting.shift()?.answer(false);
    const next = this.#waiting[0];
    this.#timer = next && setTimeout(() => this.#expire(), next.until - now);
  }
}
