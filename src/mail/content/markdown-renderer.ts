import { FairQueue } from '../../async/fair-slots.ts';
import { Unavailable } from '../../errors/unavailable.ts';
import { Failure, invalid } from '../../http/failure.ts';
import type { Unheard } from '../../http/route.ts';
import {
  JobTimeout,
  type PoolLimits,
  type PoolWorker,
  startThread,
  WorkerPool,
} from '../../threads/worker-pool.ts';
import type { RenderRequest, RenderResult } from './markdown-thread.ts';
import type { RenderedMarkdown, TemplateFrame } from './render-markdown.ts';

/** What is known of a markdown besides itself. */
export interface MarkdownOrder {
  /** The workspace that it is rendered for: owners take turns. */
  readonly owner: string;
  /** The subject. */
  readonly title?: string;
  /** The JSON pointer of the markdown. */
  readonly path?: string;
  /** What is not begun yet is left when nobody hears the answer any more. */
  readonly unheard?: Unheard | undefined;
}

/**
 * Renders markdown in a thread of its own, away from the one that answers requests. Rejects with Unavailable where too much waits, of
 * all or of this owner.
 */
export interface MarkdownRenderer {
  /** The html and text parts, or a 422. */
  render(markdown: string, order: MarkdownOrder): Promise<RenderedMarkdown | Failure>;
  /** The same for a template: its Liquid stays in both parts as it is. */
  renderTemplate(markdown: string, order: MarkdownOrder & TemplateFrame): Promise<RenderedMarkdown | Failure>;
  /** Ends the threads; callers that still wait get Unavailable. */
  close(): void;
}

/** A thread takes 65 MB. */
const USUAL: PoolLimits = {
  threads: 1,
  deadlineMs: 2_000,
  startMs: 10_000,
  mostWaiting: 512,
  idleMs: 60_000,
};

/**
 * From source, every file has its own import.meta.url. Inside the executable it is that of one beside src/main.ts, and the
 * bundle of the thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/markdown-renderer.ts')
    ? './markdown-thread.ts'
    : './mail/content/markdown-thread.ts',
  import.meta.url,
);

/** Starts a thread with emailmd in it. */
export const startMarkdownThread = (): PoolWorker<RenderRequest, RenderResult> => startThread(ENTRY);

/**
 * A renderer that starts its thread with the first markdown. Owner by owner: a markdown may take the thread until the deadline, and
 * whoever sends many of those makes others wait for one of them at the most.
 */
export function createMarkdownRenderer(
  limits: Partial<PoolLimits> = {},
  start = startMarkdownThread,
): MarkdownRenderer {
  const all = { ...USUAL, ...limits };
  const pool = new WorkerPool('Rendering markdown', all, start);
  const turns = new FairQueue({ total: all.threads, perKey: all.threads, backlog: all.mostWaiting });
  const ask = async (
    request: RenderRequest,
    { owner, path = '/body/markdown', unheard }: MarkdownOrder,
  ): Promise<RenderedMarkdown | Failure> => {
    const signal = unheard?.();
    try {
      const delivery = await turns.take(owner, () => pool.ask(request), signal);
      if (delivery === null && signal?.aborted) return UNHEARD;
      if (delivery === null) throw new Unavailable('Rendering markdown: too many wait.');
      return 'problem' in delivery ? refused(path, delivery.problem) : delivery;
    } catch (reason) {
      if (reason instanceof JobTimeout) return refused(path, 'Must be simpler: it takes too long to render.');
      throw reason;
    }
  };
  return {
    render: (markdown, order) => ask({ markdown, title: order.title ?? '' }, order),
    renderTemplate: (markdown, { previewText, ...order }) =>
      ask({ markdown, title: order.title ?? '', template: { previewText } }, order),
    close() {
      turns.close();
      pool.close();
    },
  };
}

/** It is not thrown, since that is logged: whoever hangs up again and again must not fill a disk. */
const UNHEARD = new Failure(
  'SERVICE_UNAVAILABLE',
  'The markdown was not rendered while somebody waited for it.',
  {
    retryAfterSeconds: 1,
  },
);
const refused = (path: string, problem: string): Failure => invalid([{ path, message: problem }]);
