import { within } from '../async/deadline.ts';
import { Semaphore } from '../async/semaphore.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import { LeavingThreads } from './leaving-threads.ts';
import type { Reply } from './serve.ts';
import { Thread } from './thread.ts';
import { timeOfThread } from './thread-time.ts';

/** The limits of a worker pool. */
export interface PoolLimits {
  /**
   * The most threads at a time. As many that took too long, and one more, may still be at it before no other
   * is started.
   */
  readonly threads: number;
  /**
   * Questions that a thread answers at once, for those that wait for others most of the time; 1 when left
   * out.
   */
  readonly perThread?: number;
  /** The processor time of the thread for one question; others that it answers meanwhile count as well. */
  readonly deadlineMs: number;
  /**
   * The time for which a question waits for a thread that loads. The thread goes on loading for the next one.
   */
  readonly startMs: number;
  /** Questions that may wait for a thread. */
  readonly mostWaiting: number;
  /** A thread ends after this time without work. */
  readonly idleMs: number;
}

/** Longest times by the clock, after which a thread is given up: to load, and for one question. */
const LOADING_MS = 120_000;
const STARVED_MS = 60_000;
/** The shortest time between two looks at a thread. */
const LOOK_MS = 10;

/** A question took more processor time than it may, and its thread was ended. */
export class JobTimeout extends Error {
  override readonly name = 'TooSlow';
}

/**
 * A question may have taken too long: where the time of a thread is not counted, others of the process may
 * have used it up.
 */
export class PossibleTimeout extends UnavailableError {}

export const isTimeout = (reason: unknown): boolean =>
  reason instanceof JobTimeout || reason instanceof PossibleTimeout;

export type PoolWorker<Question, Answer> = Thread<Question, Reply<Answer>>;

/**
 * Threads that start when there is work for them. `entry` is a module that calls `serve`; `work` names it in
 * errors.
 */
export class WorkerPool<Question, Answer> {
  readonly #work: string;
  readonly #stopping: UnavailableError;
  readonly #all: readonly PoolSlot<Question, Answer>[];
  readonly #free: PoolSlot<Question, Answer>[];
  readonly #slots: Semaphore;
  #isClosed = false;

  constructor(work: string, limits: PoolLimits, start: () => PoolWorker<Question, Answer>) {
    this.#work = work;
    this.#stopping = new UnavailableError(`${work}: the service is stopping.`);
    const leaving = new LeavingThreads(work, limits.threads);
    this.#all = Array.from({ length: limits.threads }, () => new PoolSlot(work, limits, start, leaving));
    const { perThread = 1 } = limits;
    this.#free = Array.from({ length: perThread }, () => this.#all).flat();
    this.#slots = new Semaphore(limits.threads * perThread, undefined, limits.mostWaiting);
  }

  /**
   * Rejects with JobTimeout, with PossibleTimeout where time is not counted, and with UnavailableError where
   * there is no thread for it.
   */
  async ask(question: Question, moved: readonly ArrayBuffer[] = []): Promise<Answer> {
    const taken = this.#slots.take();
    const isGranted = taken === true || (await taken);
    try {
      if (this.#isClosed) throw this.#stopping;
      if (!isGranted) throw new UnavailableError(`${this.#work}: too many wait for a thread.`);
      return await this.#serve(question, moved);
    } finally {
      if (isGranted) this.#slots.release();
    }
  }

  /**
   * Starts a thread that stays when it has nothing to do, for questions that have no time to wait for one.
   */
  keepOne(): void {
    if (!this.#isClosed) this.#free.at(-1)?.keep();
  }

  /** Ends the threads; questions that still wait reject with UnavailableError. */
  close(): void {
    this.#isClosed = true;
    this.#slots.stop();
    for (const slot of this.#all) slot.end(this.#stopping);
  }

  async #serve(question: Question, moved: readonly ArrayBuffer[]): Promise<Answer> {
    // A thread that is there answers sooner than one that has to start.
    const idle = this.#free.findLastIndex(({ isIdle }) => isIdle);
    const [slot] = this.#free.splice(idle, 1);
    if (!slot) throw new Error('More were let in than there are threads.');
    try {
      return await slot.ask(question, moved);
    } finally {
      this.#free.push(slot);
    }
  }
}

export const startThread = <Question, Answer>(entry: URL): PoolWorker<Question, Answer> => new Thread(entry);

interface LoadedThread<Question, Answer> {
  readonly worker: PoolWorker<Question, Answer>;
  readonly number: string | null;
}

/** A slot for one thread, which lives while it has work and for some time after. */
class PoolSlot<Question, Answer> {
  #thread: LoadedThread<Question, Answer> | null = null;
  #starting: Promise<LoadedThread<Question, Answer>> | null = null;
  #loading: PoolWorker<Question, Answer> | null = null;
  #retirement: Timer | undefined;
  #asking = 0;
  #isKept = false;

  constructor(
    private readonly work: string,
    private readonly limits: PoolLimits,
    private readonly startThread: () => PoolWorker<Question, Answer>,
    private readonly leaving: LeavingThreads,
  ) {}

  /** True while its thread is there and has nothing to do. */
  get isIdle(): boolean {
    return this.#thread !== null && this.#asking === 0;
  }

  /** Starts its thread, and lets it stay. */
  keep(): void {
    this.#isKept = true;
    if (!this.#thread) this.#loaded(this.limits.startMs).catch(() => {});
  }

  async ask(question: Question, moved: readonly ArrayBuffer[]): Promise<Answer> {
    clearTimeout(this.#retirement);
    const { work, limits } = this;
    let asked: LoadedThread<Question, Answer> | null = null;
    this.#asking++;
    try {
      asked = this.#thread ?? (await this.#loaded(limits.startMs));
      const reply = await this.#answered(asked, question, moved);
      if ('answer' in reply) return reply.answer;
      throw new Error(`${work} failed: ${'fault' in reply ? reply.fault : 'it started again'}.`);
    } catch (reason) {
      // A fault of one question is none of the others that the thread answers; another one may have replaced
      // a thread that has ended.
      if (this.#thread && this.#thread === asked && (this.#asking === 1 || isTimeout(reason))) {
        this.end(new UnavailableError(`${work}: its thread has ended.`));
        // The next question finds a thread that is loaded, or further on with it.
        if (isTimeout(reason)) this.#loaded(limits.startMs).catch(() => {});
      }
      throw reason;
    } finally {
      if (--this.#asking === 0 && !this.#isKept) {
        this.#retirement = setTimeout(
          () => this.end(new UnavailableError(`${work}: it had nothing to do.`)),
          limits.idleMs,
        );
        this.#retirement.unref();
      }
    }
  }

  end(reason: Error): void {
    const worker = this.#thread?.worker ?? this.#loading;
    if (!worker) return;
    this.#thread = null;
    this.#loading = null;
    this.leaving.add(worker);
    worker.end(reason);
  }

  /**
   * Asks, and ends the thread once it has worked for too long: by its own processor time, since on a busy
   * machine it may wait longer than it works.
   */
  async #answered(
    { worker, number }: LoadedThread<Question, Answer>,
    question: Question,
    moved: readonly ArrayBuffer[],
  ): Promise<Reply<Answer>> {
    const { work, limits } = this;
    const late = (known: string | null): Error =>
      known === null
        ? new PossibleTimeout(`${work}: it takes too long, or the machine is too busy.`)
        : new JobTimeout(`${work} took too long.`);
    let watch: Timer | undefined;
    let before: number | undefined;
    const look = (afterMs: number): void => {
      watch = setTimeout(() => {
        const time = timeOfThread(number);
        before ??= time;
        const left = limits.deadlineMs - (time - before);
        if (left <= 0) worker.end(late(number));
        else look(Math.max(LOOK_MS, left));
      }, afterMs);
    };
    // Time counts from the first look on. Most questions are answered before it, and a look costs as much as
    // a small one.
    look(LOOK_MS);
    try {
      const starved = () => new UnavailableError(`${work}: the machine is too busy.`);
      return await worker.ask(question, STARVED_MS + limits.deadlineMs, starved, moved);
    } finally {
      clearTimeout(watch);
    }
  }

  /**
   * The thread, once it is loaded. It is started once for all who wait, and goes on loading where one of them
   * gives up.
   */
  async #loaded(withinMs: number): Promise<LoadedThread<Question, Answer>> {
    const { work, leaving } = this;
    if (!this.#starting) leaving.refuseMore();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return within(
      withinMs,
      this.#starting,
      () => new UnavailableError(`${work}: its thread does not start in time.`),
    );
  }

  async #start(): Promise<LoadedThread<Question, Answer>> {
    try {
      const worker = this.startThread();
      this.#loading = worker;
      const late = () => new UnavailableError(`${this.work}: its thread does not start.`);
      const reply = await worker.next(LOADING_MS, late);
      this.#loading = null;
      this.#thread = { worker, number: 'ready' in reply ? reply.ready : null };
      return this.#thread;
    } catch (reason) {
      this.end(new UnavailableError(`${this.work}: its thread has ended.`));
      throw reason;
    }
  }
}
