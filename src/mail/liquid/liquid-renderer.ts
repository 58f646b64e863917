import { FairQueue } from '../../platform/async/fair-slots.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Scope } from './engine.ts';
import { LIQUID_LIMITS, LiquidProblem, TooSlow } from './limits.ts';
import type { Job } from './liquid-thread.ts';
import { filled, type Outline, weightOfOutline } from './outline.ts';
import type {
  AuthoredPart,
  AuthoredSource,
  Findings,
  ReadingRules,
  RenderedParts,
  Sources,
} from './parts.ts';
import { type JobResult, WatchedThread } from './watched-thread.ts';

/** A rendering that is asked for. */
export interface LiquidRenderRequest {
  /** The owner, since owners take turns. */
  readonly owner: string;
  /** The name of these sources, by which they stay parsed; null for what is rendered once. */
  readonly key: string | null;
  readonly sources: Sources;
  readonly scope: Scope;
}

/**
 * Reads and renders untrusted templates, away from the thread that answers requests. All reject with
 * UnavailableError when too much waits.
 */
export interface LiquidRenderer {
  render(asked: LiquidRenderRequest): Promise<RenderedParts | LiquidProblem>;
  examine(
    owner: string,
    authored: Readonly<Partial<Record<AuthoredPart, string | null>>>,
    rules?: ReadingRules,
  ): Promise<Findings | LiquidProblem>;
  /** Checks an html that was made of other sources, of markup where `isSplit`; null when it is sound. */
  examineMade(owner: string, html: string, isSplit?: boolean): Promise<LiquidProblem | null>;
  /** The names that sources use and do not set themselves. */
  namesIn(owner: string, sources: readonly AuthoredSource[]): Promise<readonly string[] | LiquidProblem>;
  close(): void;
}

/** A rendering that took no longer makes its sources quick. */
const QUICK_MS = 20;
/** After a slow rendering, nothing of its owner is quick for this time. */
const SLOW_FOR_MS = 60_000;
const MOST_REMEMBERED = 10_000;
/** Characters of all outlines together. */
const MOST_OUTLINED = 4 * LIQUID_LIMITS.result;
const LARGEST_BATCH = 64;
/** The number of jobs that are sent to a working thread together: the main thread continues meanwhile. */
const NEXT_BATCH = 8;
const MOST_WAITING = 20_000;
const SLOW_LIMITS = { total: 1, perKey: 1, backlog: 512 };

const TOO_MANY = () => new UnavailableError('Rendering templates: too many wait.');

/**
 * Two threads: sources that were quick before are rendered together on one; everything else has the other,
 * one job at a time and owner by owner. So an endless loop delays only sources that are new.
 */
export function createLiquidRenderer(monotonic: () => number = () => performance.now()): LiquidRenderer {
  const quickThread = new BatchedJobs(new WatchedThread());
  const slowThread = new WatchedThread();
  const turns = new FairQueue(SLOW_LIMITS);
  const quick = new LruMap<string, true>({ entries: MOST_REMEMBERED });
  const slowUntil = new LruMap<string, number>({ entries: MOST_REMEMBERED });
  /** Of quick sources; null for those without one. */
  const outlines = new LruMap<string, Outline | null>({
    entries: MOST_REMEMBERED,
    weight: MOST_OUTLINED,
    weightOf: weightOfOutline,
  });

  const alone = async (owner: string, job: Job): Promise<JobResult> => {
    let ran: JobResult | null = 'again';
    // At most once more: alone in its batch, a job is repeated only because the thread had forgotten its
    // sources.
    for (let asked = 0; ran === 'again' && asked < 2; asked++)
      ran = await turns.take(owner, async () => (await slowThread.run([job]))[0] ?? 'late');
    if (ran === null) throw TOO_MANY();
    return ran;
  };

  const isQuick = (owner: string, key: string | null): key is string => {
    if (key === null || !quick.get(key)) return false;
    const until = slowUntil.get(owner);
    if (until === undefined) return true;
    if (until > monotonic()) return false;
    slowUntil.delete(owner);
    return true;
  };

  const learn = (owner: string, key: string | null, ran: JobResult): void => {
    if (key === null || ran === 'again') return;
    const isDone = ran !== 'late' && ran !== 'perhapsLate';
    if (isDone && 'rendered' in ran && ran.ms < QUICK_MS) {
      if (ran.outline !== undefined) outlines.set(key, ran.outline);
      return quick.set(key, true);
    }
    quick.delete(key);
    outlines.delete(key);
    if (!isDone || ('isSlow' in ran && ran.isSlow)) slowUntil.set(owner, monotonic() + SLOW_FOR_MS);
  };

  /** Renders by the thread that these sources belong to now, and remembers how that went. */
  const run = async ({ owner, key, sources, scope }: LiquidRenderRequest): Promise<JobResult> => {
    const asksOutline = key !== null && outlines.get(key) === undefined;
    const job: Job = { do: 'render', key, sources, scope, outlines: asksOutline };
    const ran = await (isQuick(owner, key) ? quickThread.push(job) : alone(owner, job));
    learn(owner, key, ran);
    return ran;
  };
  /**
   * The first renderings of sources that may be quick, by their keys. Those that come meanwhile wait for how
   * it goes.
   */
  const firsts = new Map<string, Promise<JobResult>>();

  return {
    async render(asked) {
      const { owner, key } = asked;
      const outline = isQuick(owner, key) ? outlines.get(key) : null;
      const parts = outline ? filled(outline, asked.scope.names) : null;
      if (parts) return parts;
      const isNew = (name: string) => !quick.has(name) && !slowUntil.has(owner);
      while (key !== null && firsts.has(key) && isNew(key)) await firsts.get(key)?.catch(() => {});
      const running = run(asked);
      if (key !== null && isNew(key)) {
        firsts.set(key, running);
        void running.catch(() => {}).then(() => firsts.delete(key));
      }
      const done = settled(await running);
      if (done instanceof LiquidProblem) return done;
      if ('rendered' in done) return done.rendered;
      throw new Error('A rendering made nothing.');
    },
    async examine(owner, authored, rules = {}) {
      const done = settled(await alone(owner, { do: 'examine', authored, rules }));
      if (done instanceof LiquidProblem) return done;
      if ('findings' in done) return done.findings;
      throw new Error('An examination found nothing.');
    },
    async examineMade(owner, html, isSplit = true) {
      const done = settled(await alone(owner, { do: 'examineMade', html, isSplit }));
      return done instanceof LiquidProblem ? done : null;
    },
    async namesIn(owner, sources) {
      const done = settled(await alone(owner, { do: 'namesIn', sources }));
      if (done instanceof LiquidProblem) return done;
      if ('names' in done) return done.names;
      throw new Error('A reading found no names.');
    },
    close() {
      turns.close();
      quickThread.close();
      slowThread.close();
    },
  };
}

/** The result of a job, or what its author did wrong. */
function settled(
  ran: JobResult,
): Exclude<JobResult, string | { readonly problem: string } | { readonly fault: string }> | LiquidProblem {
  if (ran === 'late') return new TooSlow();
  if (ran === 'perhapsLate')
    throw new UnavailableError('Rendering templates: it takes too long, or the machine is too busy.');
  if (ran === 'again') throw new UnavailableError('Rendering templates: the thread ends again and again.');
  if ('fault' in ran) throw new Error(`Rendering a template failed: ${ran.fault}.`);
  if ('problem' in ran)
    return ran.isSlow ? new TooSlow() : new LiquidProblem(ran.problem, ran.dependsOnValues, ran.part);
  return ran;
}

interface WaitingJob {
  readonly job: Job;
  readonly settle: (ran: JobResult) => void;
  readonly fail: (reason: unknown) => void;
  /** Batches that ended before it was done. */
  lost: number;
}

/** Batches that one job may be lost with. */
const MOST_LOST = 3;

/**
 * Jobs that go to a thread in batches. The first goes at once, so that the thread works while this one reads
 * the next requests; a batch that waited for the one before it made the two threads take turns (an email by
 * template cost 1.8 ms of latency at 64 at once).
 */
class BatchedJobs {
  readonly #waiting: WaitingJob[] = [];
  #underWay = 0;
  #isClosed = false;

  constructor(private readonly thread: WatchedThread) {}

  push(job: Job): Promise<JobResult> {
    return new Promise((settle, fail) => {
      if (this.#isClosed || this.#waiting.length >= MOST_WAITING) return fail(TOO_MANY());
      this.#waiting.push({ job, settle, fail, lost: 0 });
      if (this.#underWay === 0 || (this.#waiting.length >= NEXT_BATCH && this.#underWay < LARGEST_BATCH))
        void this.#send();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.thread.close();
    for (const { fail } of this.#waiting.splice(0)) fail(TOO_MANY());
  }

  async #send(): Promise<void> {
    const batch = this.#waiting.splice(0, LARGEST_BATCH);
    if (batch.length === 0) return;
    this.#underWay += batch.length;
    try {
      const ran = await this.thread.run(batch.map(({ job }) => job));
      for (const [index, waiting] of batch.entries()) this.#finish(waiting, ran[index] ?? 'again');
    } catch (reason) {
      for (const { fail } of batch) fail(reason);
    }
    this.#underWay -= batch.length;
    if (this.#underWay < LARGEST_BATCH) void this.#send();
  }

  #finish(waiting: WaitingJob, ran: JobResult): void {
    if (ran === 'again' && ++waiting.lost < MOST_LOST && !this.#isClosed) this.#waiting.push(waiting);
    else waiting.settle(ran);
  }
}
