/**
 * A worker that is asked one question at a time. A thread that does not answer in time is ended: nothing else stops an
 * endless loop (11 ms until it is gone, its memory with it).
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

  /** Resolves with the next answer. Rejects with `late` when none comes in time, and with an Error when the thread fails. */
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

  /** Asks a question and waits for its answer like `next`. */
  ask(question: Question, withinMs: number, late: Error): Promise<Answer> {
    const answer = this.next(withinMs, late);
    this.#worker.postMessage(question);
    return answer;
  }

  /** Ends the thread whatever it does; a pending answer rejects with `reason`. */
  end(reason: Error): void {
    this.#worker.terminate();
    this.#settle?.reject(reason);
  }
}
