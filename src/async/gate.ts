/** Lets so many through at a time; the others wait in the order they came. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #inside = 0;
  readonly #drained: (() => void)[] = [];

  constructor(private readonly width: number) {}

  /** Nobody is inside, so nobody waits. */
  get idle(): boolean {
    return this.#inside === 0;
  }

  /** Settles when the last one inside has left. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.idle) resolve();
      else this.#drained.push(resolve);
    });
  }

  /** Runs `work` when there is room. Rejects with the error of `giveUp` when the signal fires while waiting. */
  async pass<T>(
    work: () => Promise<T>,
    signal?: AbortSignal,
    giveUp = () => new Error('Gave up waiting'),
  ): Promise<T> {
    await this.#enter(signal, giveUp);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal | undefined, giveUp: () => Error): Promise<void> {
    if (signal?.aborted) throw giveUp();
    if (this.#inside < this.width) {
      this.#inside += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(giveUp());
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside -= 1;
    if (this.idle) for (const drained of this.#drained.splice(0)) drained();
  }
}
