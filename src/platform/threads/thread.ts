import type { Numbered } from './serve.ts';

interface ThreadCall<Answer> {
  /** The number of its question; null for an answer that comes unasked. */
  readonly number: number | null;
  resolve(answer: Answer): void;
  reject(reason: Error): void;
}

/**
 * A worker that answers its questions in the order in which they are asked, or numbers its answers (`serve`).
 * A thread that does not answer in time is ended: nothing else stops an endless loop (11 ms until it is gone,
 * its memory with it). Nothing at all stops a regular expression: a thread that is in the middle of one goes
 * on until it is through, so that a caller checks `gone` before it starts another one.
 */
export class Thread<Question, Answer> {
  readonly #worker: Worker;
  /** The waiting callers, in the order of their answers. */
  readonly #pending: ThreadCall<Answer>[] = [];
  #asked = 0;
  /** Resolves when the thread takes no processor time any more, which may be minutes after its end. */
  readonly gone: Promise<void>;

  /** `entry` is a module that posts its first answer unasked, when it has been loaded. */
  constructor(entry: URL) {
    this.#worker = new Worker(entry);
    this.#worker.unref();
    this.gone = new Promise((resolve) => this.#worker.addEventListener('close', () => resolve()));
    this.#worker.onmessage = ({ data }: MessageEvent<Answer & Numbered>) => {
      const { to } = data;
      const place = to === undefined ? 0 : this.#pending.findIndex(({ number }) => number === to);
      if (place !== -1) this.#pending.splice(place, 1)[0]?.resolve(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#rejectAll(new Error('A thread failed.'));
    };
  }

  /**
   * Resolves with the next answer that no one waits for yet. Rejects with the error of `late` when none comes
   * in time, and with an Error when the thread fails; it is of no use then, and is to be ended. `late` is a
   * function, since an error costs as much as a small question: 100 us.
   */
  next(withinMs: number, late: () => Error): Promise<Answer> {
    return this.#answer(null, withinMs, late);
  }

  async #answer(number: number | null, withinMs: number, late: () => Error): Promise<Answer> {
    const timer = setTimeout(() => this.#rejectAll(late()), withinMs);
    try {
      return await new Promise<Answer>((resolve, reject) => this.#pending.push({ number, resolve, reject }));
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Asks a question and waits for its answer like `next`. Of `moved` nothing is left here, where all else is
   * copied.
   */
  ask(
    question: Question,
    withinMs: number,
    late: () => Error,
    moved: readonly ArrayBuffer[] = [],
  ): Promise<Answer> {
    const answer = this.#answer(++this.#asked, withinMs, late);
    this.#worker.postMessage(question, [...moved]);
    return answer;
  }

  /** Ends the thread whatever it does; pending answers reject with `reason`. */
  end(reason: Error): void {
    this.#worker.terminate();
    this.#rejectAll(reason);
  }

  #rejectAll(reason: Error): void {
    for (const { reject } of this.#pending.splice(0)) reject(reason);
  }
}
