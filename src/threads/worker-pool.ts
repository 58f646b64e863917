import { Unavailable } from '../errors/unavailable.ts';
import type { Reply } from './serve.ts';
import { Thread } from './thread.ts';

/** The limits of a worker pool. */
export interface PoolLimits {
  /** The most threads at a time. */
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

interface Job<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Threads that start when there is work for them. `entry` is a module that calls `serve`; `work` names it in errors. */
export class WorkerPool<Question, Answer> {
  readonly #limits: PoolLimits;
  readonly #work: string;
  readonly #stopping: Unavailable;
  readonly #lanes: readonly Lane<Question, Answer>[];
  readonly #free: Lane<Question, Answer>[];
  readonly #waiting: Job<Question, Answer>[] = [];
  #isClosed = false;

  constructor(work: string, limits: PoolLimits, start: () => PoolWorker<Question, Answer>) {
    this.#work = work;
    this.#limits = limits;
    this.#stopping = new Unavailable(`${work}: the service is stopping.`);
    this.#lanes = Array.from({ length: limits.threads }, () => new Lane(work, limits, start));
    this.#free = [...this.#lanes];
  }

  /** Rejects with TooSlow, and with Unavailable when no thread is free for it. */
  ask(question: Question): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(this.#stopping);
    if (this.#waiting.length >= this.#limits.mostWaiting)
      return Promise.reject(new Unavailable(`${this.#work}: too many wait for a thread.`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      const lane = this.#free.pop();
      if (lane) void this.#serve(lane);
    });
  }

  /** Ends the threads; questions that still wait reject with Unavailable. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#stopping);
    for (const lane of this.#lanes) lane.end(this.#stopping);
  }

  async #serve(lane: Lane<Question, Answer>): Promise<void> {
    for (let job = this.#waiting.shift(); job; job = this.#waiting.shift())
      await lane.ask(job.question).then(job.resolve, job.reject);
    this.#free.push(lane);
  }
}

/** Starts a thread of that entry. */
export const startThread = <Question, Answer>(entry: URL): PoolWorker<Question, Answer> => new Thread(entry);

/** One slot of the pool, whose thread lives while it has work and for some time after. */
class Lane<Question, Answer> {
  #thread: PoolWorker<Question, Answer> | null = null;
  #retirement: Timer | undefined;

  constructor(
    private readonly work: string,
    private readonly limits: PoolLimits,
    private readonly startThread: () => PoolWorker<Question, Answer>,
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
    this.#thread?.end(reason);
    this.#thread = null;
  }

  async #start(): Promise<PoolWorker<Question, Answer>> {
    const thread = this.startThread();
    this.#thread = thread;
    await thread.next(this.limits.startMs, new Unavailable(`${this.work}: its thread does not start.`));
    return thread;
  }
}
