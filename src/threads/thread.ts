/**
 * A worker that is asked one question at a time. A question that is not answered in time costs the thread its life: nothing
 * else stops a loop without an end (11 ms until it is gone, its memory with it).
 */
export class Thread<Question, Answer> {
  readonly #worker: Worker;
  #settle: { resolve(answer: Answer): void; reject(reason: Error): void } | null = null;

  /** `entry` is a module that posts its first answer unasked, when it has been loaded. */
  constructor(entry: URL) {
    this.#worker = new Worker(entry);
    this.#worker.unref();
    this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#settle?.resolve(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#settle?.reject(new Error('A thread failed.'));
    };
  }

  /** The next answer; rejects with `late` when there is none within so many milliseconds, and with an Error when the thread fails. */
  async next(withinMs: number, late: Error): Promise<Answer> {
    const timer = setTimeout(() => this.#settle?.reject(late), withinMs);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.#settle = { resolve, reject };
      });
    } finally {
      clearTimeout(timer);
      this.#settle = null;
    }
  }

  /** Asks, and waits as `next` does. */
  ask(question: Question, withinMs: number, late: Error): Promise<Answer> {
    const answer = this.next(withinMs, late);
    this.#worker.postMessage(question);
    return answer;
  }

  /** Ends the thread whatever it does; who waits for an answer is told `reason`. */
  end(reason: Error): void {
    this.#worker.terminate();
    this.#settle?.reject(reason);
  }
}
