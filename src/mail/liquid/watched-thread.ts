import { within } from '../../platform/async/deadline.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { LeavingThreads } from '../../platform/threads/leaving-threads.ts';
import type { Reply } from '../../platform/threads/serve.ts';
import { Thread } from '../../platform/threads/thread.ts';
import { timeOfThread } from '../../platform/threads/thread-time.ts';
import type { Job, Question, ThreadAnswer } from './liquid-thread.ts';

/**
 * The outcome of a job: done, ended because it took too long, ended because it may have (some systems do not
 * count the time of a thread), or to be repeated because another one of its batch took too long.
 */
export type JobResult = ThreadAnswer | 'late' | 'perhapsLate' | 'again';

/** The time limits of a thread, in milliseconds. */
export interface ThreadTimes {
  /**
   * One job, in processor time of the thread. A job sees by itself that its time is over, except in the
   * middle of a filter: this leaves it a moment for that, since ending the thread makes the next job wait for
   * another one.
   */
  readonly job: number;
  /** The time that jobs wait for a thread that loads. It continues to load for the next ones. */
  readonly start: number;
  /** Without work, after which it ends. */
  readonly idle: number;
}

const TIMES: ThreadTimes = { job: 125, start: 60_000, idle: 60_000 };
/** Longest times by the clock, after which a thread is given up: to load, and at one job. */
const LOADING_MS = 120_000;
const STARVED_MS = 60_000;
/** The time between two checks of a working thread. */
const TICK_MS = 10;
/** The thread remembers fewer; what it has forgotten it says. */
const MOST_KNOWN = 2_000;
/** Nothing waits so long: the watch ends a thread that is stuck. */
const NEVER_MS = 600_000;
const neverEnded = (): Error => new UnavailableError('It never ended.');

/**
 * Inside the executable every file has the import.meta.url of one beside src/main.ts, and the bundle of the
 * thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/watched-thread.ts') ? './liquid-thread.ts' : './mail/liquid/liquid-thread.ts',
  import.meta.url,
);

/** The thread was ended in the middle of a job: the so-many-th that it was given, counted from 0. */
class StuckJob extends Error {
  constructor(
    readonly at: number,
    readonly became: 'late' | 'perhapsLate',
  ) {
    super('A template took too long.');
  }
}

/** A thread that answers batches of jobs. */
export type LiquidThread = Thread<Question, Reply<readonly ThreadAnswer[]>>;

/**
 * A thread for Liquid that takes jobs in batches, since a message there and back takes 10 µs and 64 of them
 * together hardly more. The next batches may be sent while it works at one. It notes in shared memory which
 * job it is at, so that the culprit is known when one does not end.
 */
export class WatchedThread {
  #thread: LiquidThread | null = null;
  #starting: Promise<LiquidThread> | null = null;
  /** The thread that is starting. */
  #loading: LiquidThread | null = null;
  #progress = new Int32Array(new SharedArrayBuffer(4));
  /** The number of jobs that the thread has got. */
  #given = 0;
  /** For each batch without an answer, how many jobs the thread had been given before. */
  readonly #underWay = new Set<number>();
  /** The number of the thread, where the system has one. */
  #number: string | null = null;
  /** The keys whose sources the thread was given. */
  readonly #known = new LruMap<string, true>({ entries: MOST_KNOWN });
  #watch: Timer | undefined;
  #retirement: Timer | undefined;
  readonly #leaving = new LeavingThreads('Rendering templates', 1);

  constructor(
    private readonly times: ThreadTimes = TIMES,
    private readonly startThread: () => LiquidThread = () => new Thread(ENTRY),
  ) {}

  /** Does the jobs, after those of earlier calls. @throws UnavailableError */
  async run(jobs: readonly Job[]): Promise<readonly JobResult[]> {
    clearTimeout(this.#retirement);
    let thread = this.#thread;
    let base = 0;
    try {
      thread ??= await this.#started();
      base = this.#given;
      return await this.#work(thread, jobs, base);
    } catch (reason) {
      // Another one may work by now, which a call that failed with this one has started.
      if (thread !== null && thread === this.#thread)
        this.#end(new UnavailableError('Rendering templates: its thread has ended.'));
      if (!(reason instanceof StuckJob)) throw reason;
      return jobs.map((_, index) => (base + index === reason.at ? reason.became : 'again'));
    } finally {
      if (this.#underWay.size === 0) this.#retireLater();
    }
  }

  /** Ends the thread; batches under way reject with UnavailableError. */
  close(): void {
    clearTimeout(this.#retirement);
    this.#end(new UnavailableError('Rendering templates: the service is stopping.'));
  }

  #retireLater(): void {
    clearTimeout(this.#retirement);
    this.#retirement = setTimeout(
      () => this.#end(new UnavailableError('It had nothing to do.')),
      this.times.idle,
    ).unref();
  }

  async #started(): Promise<LiquidThread> {
    if (!this.#starting) this.#leaving.refuseMore();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    const late = () => new UnavailableError('Rendering templates: its thread does not start in time.');
    return within(this.times.start, this.#starting, late);
  }

  async #start(): Promise<LiquidThread> {
    const thread = this.startThread();
    this.#loading = thread;
    const progress = new SharedArrayBuffer(4);
    const late = () => new UnavailableError('Rendering templates: its thread does not start.');
    try {
      const loaded = await thread.next(LOADING_MS, late);
      this.#number = 'ready' in loaded ? loaded.ready : null;
      await thread.ask({ progress }, LOADING_MS, late);
    } catch (reason) {
      this.#leave(thread, late());
      throw reason;
    } finally {
      this.#loading = null;
    }
    this.#known.clear();
    this.#given = 0;
    this.#progress = new Int32Array(progress);
    this.#thread = thread;
    return thread;
  }

  async #work(thread: LiquidThread, jobs: readonly Job[], base: number): Promise<readonly JobResult[]> {
    this.#given += jobs.length;
    if (this.#underWay.size === 0) this.#watch = this.#startWatch(thread);
    this.#underWay.add(base);
    try {
      const reply = await thread.ask(jobs.map(this.#slim), NEVER_MS, neverEnded);
      if (!('answer' in reply)) throw new Error('The thread of templates failed.');
      return reply.answer.map((done, index) => this.#noted(done, jobs[index]));
    } finally {
      this.#underWay.delete(base);
      if (this.#underWay.size === 0) clearInterval(this.#watch);
    }
  }

  /** A job without the sources that the thread has. */
  readonly #slim = (job: Job): Job =>
    job.do === 'render' && job.key !== null && this.#known.get(job.key) ? { ...job, sources: null } : job;

  #noted(done: ThreadAnswer, job: Job | undefined): JobResult {
    if (job?.do !== 'render' || job.key === null) return done;
    if ('forgotten' in done) {
      this.#known.delete(job.key);
      return 'again';
    }
    if ('rendered' in done) this.#known.set(job.key, true);
    return done;
  }

  /**
   * Ends the thread when it stays at one job for too long. Two looks are needed, so a pause of this thread
   * ends nothing.
   */
  #startWatch(thread: LiquidThread): Timer {
    let seen = -1;
    let since = 0;
    let used = 0;
    return setInterval(() => {
      const at = Atomics.load(this.#progress, 0);
      const now = performance.now();
      if (at !== seen) {
        seen = at;
        since = now;
        used = timeOfThread(this.#number);
        return;
      }
      const stuck = now - since;
      const [oldest = 0] = this.#underWay;
      // No thread works longer than time passes.
      const isSpent = stuck >= this.times.job && timeOfThread(this.#number) - used >= this.times.job;
      if (at > oldest && isSpent)
        thread.end(new StuckJob(at - 1, this.#number === null ? 'perhapsLate' : 'late'));
      else if (stuck >= STARVED_MS) thread.end(new UnavailableError('Rendering templates: no answer.'));
    }, TICK_MS);
  }

  #end(reason: Error): void {
    if (this.#loading) this.#leave(this.#loading, reason);
    if (this.#thread) this.#leave(this.#thread, reason);
    this.#thread = null;
  }

  #leave(thread: LiquidThread, reason: Error): void {
    this.#leaving.add(thread);
    thread.end(reason);
  }
}
