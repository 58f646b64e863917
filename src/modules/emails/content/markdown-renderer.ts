import { Unavailable } from '../../../db/unavailable.ts';
import { type Failure, invalid } from '../../../http/failure.ts';
import type { Commission, Delivery } from './markdown-thread.ts';
import type { RenderedMarkdown } from './render-markdown.ts';
import { Thread } from './thread.ts';

/** Makes emails of markdown, away from the thread that answers requests. */
export interface MarkdownRenderer {
  /** The html and text parts, or the 422 that says why there are none. `title` is the subject. */
  render(markdown: string, title?: string): Promise<RenderedMarkdown | Failure>;
  /** Ends the threads; who still waits gets Unavailable. */
  close(): void;
}

/** How much a renderer may take. */
export interface RendererLimits {
  /** At a time; each takes 65 MB. */
  readonly threads: number;
  /** For one markdown. */
  readonly deadlineMs: number;
  /** For a thread to load. */
  readonly startMs: number;
  /** Commissions that may wait for a thread. */
  readonly mostWaiting: number;
  /** After so long without work a thread ends. */
  readonly idleMs: number;
}

const USUAL: RendererLimits = {
  threads: 1,
  deadlineMs: 2_000,
  startMs: 10_000,
  mostWaiting: 256,
  idleMs: 60_000,
};

/**
 * From source, every file has its own import.meta.url. Inside the executable there is one, that of src/main.ts, and the
 * bundle of the thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/markdown-renderer.ts')
    ? './markdown-thread.ts'
    : './modules/emails/content/markdown-thread.ts',
  import.meta.url,
);

const TOO_BUSY = new Unavailable('Too many emails wait for their markdown to be rendered.');
const NOT_STARTED = new Unavailable('The renderer of markdown does not start.');
const STOPPING = new Unavailable('The service is stopping.');
const TOO_SLOW = new Error('The markdown takes too long to render.');

interface Job {
  readonly commission: Commission;
  readonly resolve: (outcome: RenderedMarkdown | Failure) => void;
  readonly reject: (reason: unknown) => void;
}

type MarkdownThread = Thread<Commission, Delivery>;

/** Starts a thread with emailmd in it. */
export const startMarkdownThread = (): MarkdownThread => new Thread(ENTRY);

/** A renderer that starts its threads when there is markdown. */
export function createMarkdownRenderer(
  limits: Partial<RendererLimits> = {},
  startThread = startMarkdownThread,
): MarkdownRenderer {
  const { threads, mostWaiting, ...rest } = { ...USUAL, ...limits };
  const lanes = Array.from({ length: threads }, () => new Lane(rest, startThread));
  const free = [...lanes];
  const waiting: Job[] = [];
  let isClosed = false;

  const serve = async (lane: Lane): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      await lane.render(job.commission).then(job.resolve, job.reject);
    }
    free.push(lane);
  };

  return {
    render(markdown, title = '') {
      if (isClosed) return Promise.reject(STOPPING);
      if (waiting.length >= mostWaiting) return Promise.reject(TOO_BUSY);
      return new Promise((resolve, reject) => {
        waiting.push({ commission: { markdown, title }, resolve, reject });
        const lane = free.pop();
        if (lane) void serve(lane);
      });
    },
    close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(STOPPING);
      for (const lane of lanes) lane.end(STOPPING);
    },
  };
}

type LaneLimits = Omit<RendererLimits, 'threads' | 'mostWaiting'>;

/** Room for one thread, which is there while it has work and for some time after. */
class Lane {
  readonly #limits: LaneLimits;
  readonly #startThread: () => MarkdownThread;
  #thread: MarkdownThread | null = null;
  #retirement: Timer | undefined;

  constructor(limits: LaneLimits, startThread: () => MarkdownThread) {
    this.#limits = limits;
    this.#startThread = startThread;
  }

  async render(commission: Commission): Promise<RenderedMarkdown | Failure> {
    clearTimeout(this.#retirement);
    try {
      const thread = this.#thread ?? (await this.#start());
      return outcomeOf(await thread.ask(commission, this.#limits.deadlineMs, TOO_SLOW));
    } catch (reason) {
      this.end(STOPPING);
      if (reason === TOO_SLOW) return refused('Must be simpler: it takes too long to render.');
      throw reason;
    } finally {
      this.#retirement = setTimeout(() => this.end(STOPPING), this.#limits.idleMs);
      this.#retirement.unref();
    }
  }

  end(reason: Error): void {
    this.#thread?.end(reason);
    this.#thread = null;
  }

  async #start(): Promise<MarkdownThread> {
    const thread = this.#startThread();
    this.#thread = thread;
    await thread.next(this.#limits.startMs, NOT_STARTED);
    return thread;
  }
}

const refused = (problem: string): Failure => invalid([{ path: '/body/markdown', message: problem }]);

function outcomeOf(delivery: Delivery): RenderedMarkdown | Failure {
  if (delivery === 'ready' || 'fault' in delivery) {
    throw new Error(
      `The renderer of markdown failed: ${delivery === 'ready' ? 'it started again' : delivery.fault}.`,
    );
  }
  return 'problem' in delivery ? refused(delivery.problem) : delivery;
}
