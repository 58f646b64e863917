import { Unavailable } from '../../errors/unavailable.ts';
import type { Reply } from '../../threads/serve.ts';
import { Thread } from '../../threads/thread.ts';
import { timeOfThread } from '../../threads/thread-time.ts';
import { isOver } from './limits.ts';
import type { Done, Job, Question } from './liquid-thread.ts';

/** What became of a job: done, ended because it took too long, or to be asked again because another one of its batch did. */
export type Ran = Done | 'late' | 'again';

/** The time limits of a thread, in milliseconds. */
export interface ThreadTimes {
  /**
   * One job, by the clock; longer where the thread got little of the processor. A job sees by itself that its time is over, except in
   * the middle of a filter: this leaves it a moment for that, since ending the thread makes the next job wait for another one.
   */
  readonly job: number;
  /** Loading, and reaching the first job of a batch. */
  readonly start: number;
  /** Without work, after which it ends. */
  readonly idle: number;
}

const TIMES: ThreadTimes = { job: 125, start: 10_000, idle: 60_000 };
/** How often a thread is looked at while it works. */
const TICK_MS = 10;
/** The thread remembers fewer; what it has forgotten it says. */
const MOST_KNOWN = 2_000;
/** Nothing waits so long: the watch ends a thread that is stuck. */
const NEVER_MS = 600_000;

/**
 * Inside the executable every file has the import.meta.url of src/main.ts, and the bundle of the thread lies beneath it as its
 * source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/watched-thread.ts') ? './liquid-thread.ts' : './mail/liquid/liquid-thread.ts',
  import.meta.url,
);

/** The thread was ended in the middle of the job of that index. */
class StuckJob extends Error {
  constructor(readonly index: number) {
    super('A template took too long.');
  }
}

/**
 * A thread for Liquid that takes jobs in batches, since a message there and back takes 10 µs and 64 of them together hardly more.
 * It notes in shared memory which job it is at, so that of a batch that does not end the culprit is known.
 */
export class WatchedThread {
  #thread: Thread<Question, Reply<readonly Done[]>> | null = null;
  #progress = new Int32Array(new SharedArrayBuffer(4));
  /** The keys whose sources the thread was given. */
  /** The number of the thread, where the system has one. */
  #number: string | null = null;
  readonly #known = new Set<string>();
  #retirement: Timer | undefined;

  constructor(private readonly times: ThreadTimes = TIMES) {}

  /** Does the jobs; one batch at a time. @throws Unavailable */
  async run(jobs: readonly Job[]): Promise<readonly Ran[]> {
    clearTimeout(this.#retirement);
    try {
      const thread = this.#thread ?? (await this.#start());
      return await this.#work(thread, jobs);
    } catch (reason) {
      this.#end(new Unavailable('Rendering templates: its thread has ended.'));
      if (!(reason instanceof StuckJob)) throw reason;
      return jobs.map((_, index) => (index === reason.index ? 'late' : 'again'));
    } finally {
      this.#retirement = setTimeout(
        () => this.#end(new Unavailable('It had nothing to do.')),
        this.times.idle,
      );
      this.#retirement.unref();
    }
  }

  /** Ends the thread; a batch under way rejects with Unavailable. */
  close(): void {
    clearTimeout(this.#retirement);
    this.#end(new Unavailable('Rendering templates: the service is stopping.'));
  }

  async #start(): Promise<Thread<Question, Reply<readonly Done[]>>> {
    const thread = new Thread<Question, Reply<readonly Done[]>>(ENTRY);
    this.#thread = thread;
    this.#known.clear();
    this.#progress = new Int32Array(new SharedArrayBuffer(4));
    const late = new Unavailable('Rendering templates: its thread does not start.');
    await thread.next(this.times.start, late);
    const question = { progress: this.#progress.buffer as SharedArrayBuffer };
    const reply = await thread.ask(question, this.times.start, late);
    const [first] = reply !== 'ready' && 'answer' in reply ? reply.answer : [];
    this.#number = first && 'thread' in first ? first.thread : null;
    return thread;
  }

  async #work(
    thread: Thread<Question, Reply<readonly Done[]>>,
    jobs: readonly Job[],
  ): Promise<readonly Ran[]> {
    const stopWatching = this.#watch(thread, Atomics.load(this.#progress, 0));
    try {
      const reply = await thread.ask(jobs.map(this.#slim), NEVER_MS, new Unavailable('It never ended.'));
      if (reply === 'ready' || 'fault' in reply) throw new Error('The thread of templates failed.');
      return reply.answer.map((done, index) => this.#noted(done, jobs[index]));
    } finally {
      stopWatching();
    }
  }

  /** A job without the sources that the thread has. */
  readonly #slim = (job: Job): Job =>
    job.do === 'render' && job.key !== null && this.#known.has(job.key) ? { ...job, sources: null } : job;

  #noted(done: Done, job: Job | undefined): Ran {
    if (job?.do !== 'render' || job.key === null) return done;
    if ('forgotten' in done) {
      this.#known.delete(job.key);
      return 'again';
    }
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if ('rendered' in done) this.#known.add(job.key);
    return done;
  }

  /** Ends the thread when it stays at one job for too long. Two looks are needed, so a pause of this thread ends nothing. */
  #watch(thread: Thread<Question, Reply<readonly Done[]>>, base: number): () => void {
    let seen = -1;
    let since = 0;
    let used: number | null = null;
    const timer = setInterval(() => {
      const at = Atomics.load(this.#progress, 0);
      const now = performance.now();
      if (at !== seen) {
        seen = at;
        since = now;
        used = timeOfThread(this.#number);
        return;
      }
      const stuck = now - since;
      const isSpent = isOver(stuck, this.#workedSince(used) ?? stuck, this.times.job);
      if (at > base && isSpent) thread.end(new StuckJob(at - base - 1));
      else if (stuck >= this.times.start) thread.end(new Unavailable('Rendering templates: no answer.'));
    }, TICK_MS);
    return () => clearInterval(timer);
  }

  /** Milliseconds that the thread has worked; null where nobody tells. */
  #workedSince(used: number | null): number | null {
    const now = used === null ? null : timeOfThread(this.#number);
    return now === null || used === null ? null : now - used;
  }

  #end(reason: Error): void {
    this.#thread?.end(reason);
    this.#thread = null;
  }
}
