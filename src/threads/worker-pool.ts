import { Semaphore } from '../async/semaphore.ts';
import { Unavailable } from '../errors/unavailable.ts';
import type { Reply } from './serve.ts';
import { Thread } from './thread.ts';

/** The limits of a worker pool. */
export interface PoolLimits {
  /** The most threads at a time. As many that took too long, and one more, may still be at it before no other is started. */
  readonly threads: number;
  /** The time for one question. */
  readonly deadlineMs: number;
  /** The time for a thread to load. */
  readonly startMs: number;
  /** Questions that may wait for a thread. */
  readonly mostWaiting: number;
  /** A thread ends after this time without work. */
  readonly idleMs: number;
}

/** A question took longer than its deadline, and its thread was ended. */
export class JobTimeout extends Error {
  override readonly name = 'TooSlow';
}

/** A thread of a worker pool. */
export type PoolWorker<Question, Answer> = Thread<Question, Reply<Answer>>;

/** Threads that start when there is work for them. `entry` is a module that calls `serve`; `work` names it in errors. */
export class WorkerPool<Question, Answer> {
  readonly #work: string;
  readonly #stopping: Unavailable;
  readonly #all: readonly PoolSlot<Question, Answer>[];
  readonly #free: PoolSlot<Question, Answer>[];
  readonly #slots: Semaphore;
  #isClosed = false;

  constructor(work: string, limits: PoolLimits, start: () => PoolWorker<Question, Answer>) {
    this.#work = work;
    this.#stopping = new Unavailable(`${work}: the service is stopping.`);
    const leaving = new Set<PoolWorker<Question, Answer>>();
    this.#all = Array.from({ length: limits.threads }, () => new PoolSlot(work, limits, start, leaving));
    this.#free = [...this.#all];
    this.#slots = new Semaphore(limits.threads, undefined, limits.mostWaiting);
  }

  /** Rejects with JobTimeout, and with Unavailable where there is no thread for it. */
  async ask(question: Question): Promise<Answer> {
    const taken = this.#slots.take();
    const isGranted = taken === true || (await taken);
    try {
      if (this.#isClosed) throw this.#stopping;
      if (!isGranted) throw new Unavailable(`${this.#work}: too many wait for a thread.`);
      return await this.#serve(question);
    } finally {
      if (isGranted) this.#slots.release();
    }
  }

  /** Ends the threads; questions that still wait reject with Unavailable. */
  close(): void {
    this.#isClosed = true;
    this.#slots.stop();
    for (const slot of this.#all) slot.end(this.#stopping);
  }

  async #serve(question: Question): Promise<Answer> {
    const slot = this.#free.pop();
    if (!slot) throw new Error('More were let in than there are threads.');
    try {
      return await slot.ask(question);
    } finally {
      this.#free.push(slot);
    }
  }
}

/** Starts a thread of that entry. */
export const startThread = <Question, Answer>(entry: URL): PoolWorker<Question, Answer> => new Thread(entry);

/** A slot for one thread, which lives while it has work and for some time after. */
class PoolSlot<Question, Answer> {
  #thread: PoolWorker<Question, Answer> | null = null;
  #retirement: Timer | undefined;

  constructor(
    private readonly work: string,
    private readonly limits: PoolLimits,
    private readonly startThread: () => PoolWorker<Question, Answer>,
    /** The threads of the pool that were ended and still run. */
    private readonly leaving: Set<PoolWorker<Question, Answer>>,
  ) {}

  async ask(question: Question): Promise<Answer> {
    clearTimeout(this.#retirement);
    const { work, limits } = this;
    try {
      const thread = this.#thread ?? (await this.#start());
      const late = new JobTimeout(`${work} took too long.`);
      const reply = await thread.ask(question, limits.deadlineMs, late);
      if (reply !== 'ready' && 'answer' in reply) return reply.answer;
      throw new Error(`${work} failed: ${reply === 'ready' ? 'it started again' : reply.fault}.`);
    } catch (reason) {
      this.end(new Unavailable(`${work}: its thread has ended.`));
      throw reason;
    } finally {
      this.#retirement = setTimeout(
        () => this.end(new Unavailable(`${work}: it had nothing to do.`)),
        limits.idleMs,
      );
      this.#retirement.unref();
    }
  }

  end(reason: Error): void {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = null;
    this.leaving.add(thread);
    void thread.gone.then(() => this.leaving.delete(thread));
    thread.end(reason);
  }

  async #start(): Promise<PoolWorker<Question, Answer>> {
    if (this.leaving.size > this.limits.threads)
      throw new Unavailable(
        `${this.work}: what took too long before is not over yet. Ask again in a minute.`,
      );
    const thread = this.startThread();
    this.#thread = thread;
    await thread.next(this.limits.startMs, new Unavailable(`${this.work}: its thread does not start.`));
    return thread;
  }
}
