import { type Failure, invalid } from '../../http/failure.ts';
import {
  JobTimeout,
  type PoolLimits,
  type PoolWorker,
  startThread,
  WorkerPool,
} from '../../threads/worker-pool.ts';
import type { RenderRequest, RenderResult } from './markdown-thread.ts';
import type { RenderedMarkdown, TemplateFrame } from './render-markdown.ts';

/** Renders markdown in a thread of its own, away from the one that answers requests. */
export interface MarkdownRenderer {
  /** The html and text parts, or a 422. `title` is the subject, `path` the JSON pointer of the markdown. */
  render(markdown: string, title?: string, path?: string): Promise<RenderedMarkdown | Failure>;
  /** The same for a template: its Liquid stays in both parts as it is. */
  renderTemplate(markdown: string, title: string, frame: TemplateFrame): Promise<RenderedMarkdown | Failure>;
  /** Ends the threads; callers that still wait get Unavailable. */
  close(): void;
}

/** A thread takes 65 MB. */
const USUAL: PoolLimits = {
  threads: 1,
  deadlineMs: 2_000,
  startMs: 10_000,
  mostWaiting: 256,
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

/** A renderer that starts its thread with the first markdown. */
export function createMarkdownRenderer(
  limits: Partial<PoolLimits> = {},
  start = startMarkdownThread,
): MarkdownRenderer {
  const pool = new WorkerPool('Rendering markdown', { ...USUAL, ...limits }, start);
  const ask = async (request: RenderRequest, path: string): Promise<RenderedMarkdown | Failure> => {
    try {
      const delivery = await pool.ask(request);
      return 'problem' in delivery ? refused(path, delivery.problem) : delivery;
    } catch (reason) {
      if (reason instanceof JobTimeout) return refused(path, 'Must be simpler: it takes too long to render.');
      throw reason;
    }
  };
  return {
    render: (markdown, title = '', path = MARKDOWN) => ask({ markdown, title }, path),
    renderTemplate: (markdown, title, template) => ask({ markdown, title, template }, MARKDOWN),
    close: () => pool.close(),
  };
}

const MARKDOWN = '/body/markdown';
const refused = (path: string, problem: string): Failure => invalid([{ path, message: problem }]);
