import type { HangUpSignal } from '../../platform/async/deadline.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type Direction, directionOf } from '../../platform/text/language.ts';
import { FairPool } from '../../platform/threads/fair-pool.ts';
import {
  isTimeout,
  JobTimeout,
  type PoolLimits,
  type PoolWorker,
  startThread,
} from '../../platform/threads/worker-pool.ts';
import type { RenderRequest, RenderResult } from './markdown-thread.ts';
import type { RenderedMarkdown, TemplateFrame } from './render-markdown.ts';
import type { RenderedMjml } from './render-mjml.ts';

/** The context of a Markdown text. */
export interface MarkdownOrder {
  /** The workspace that it is rendered for: owners take turns. */
  readonly owner: string;
  /** The subject. */
  readonly title?: string;
  /** The JSON pointer of the markdown. */
  readonly path?: string;
  /**
   * The language of the content, by which it begins at the left or at the right; null where none is named.
   */
  readonly language?: string | null;
  /** A rendering that has not begun is dropped once its client is gone. */
  readonly unheard?: HangUpSignal | undefined;
}

/**
 * Renders markdown in a separate thread, away from the one that answers requests. Rejects with
 * UnavailableError when too much waits, in all or for this owner.
 */
export interface MarkdownRenderer {
  /** The html and text parts, or a 422. */
  render(markdown: string, order: MarkdownOrder): Promise<RenderedMarkdown | Failure>;
  /** The same for a template: its Liquid stays in both parts as it is. */
  renderTemplate(markdown: string, order: MarkdownOrder & TemplateFrame): Promise<RenderedMarkdown | Failure>;
  /** The html of MJML, whose Liquid stays as it is, or a 422. */
  renderMjml(mjml: string, order: MarkdownOrder): Promise<RenderedMjml | Failure>;
  /** Ends the threads; callers that still wait get UnavailableError. */
  close(): void;
}

/** A thread takes 65 MB. */
const USUAL: PoolLimits = {
  threads: 1,
  deadlineMs: 2_000,
  // Loading takes 0.3 s of processor time, which a busy machine may take long to give.
  startMs: 60_000,
  mostWaiting: 512,
  idleMs: 60_000,
};

/**
 * After a rendering that took so much processor time, what its owner sends has a thread apart from the
 * others' for a while.
 */
const SLOW_MS = 500;
const SLOW_FOR_MS = 60_000;
const MOST_REMEMBERED = 10_000;

/**
 * From source, every file has its own import.meta.url. Inside the executable it is that of one beside
 * src/main.ts, and the bundle of the thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/markdown-renderer.ts')
    ? './markdown-thread.ts'
    : './mail/content/markdown-thread.ts',
  import.meta.url,
);

/** Starts a thread with emailmd in it. */
export const startMarkdownThread = (): PoolWorker<RenderRequest, RenderResult> => startThread(ENTRY);

const ELSEWHERE = Symbol('elsewhere');

/**
 * A renderer that starts its threads with the first markdown. Owner by owner: a markdown may take the thread
 * until the deadline, and an owner whose markdown took long has the other thread from then on, with all who
 * did the same. So heavy markdown costs another owner one rendering at the most, also where it ends its
 * thread.
 */
export function createMarkdownRenderer(
  limits: Partial<PoolLimits> = {},
  start = startMarkdownThread,
  monotonic: () => number = () => performance.now(),
): MarkdownRenderer {
  const all = { ...USUAL, ...limits };
  const lane = (limitsOfLane: PoolLimits) => new FairPool('Rendering markdown', limitsOfLane, start);
  const [usual, slow] = [lane(all), lane({ ...all, threads: 1 })];
  const slowUntil = new LruMap<string, number>({ entries: MOST_REMEMBERED });
  const isSlow = (owner: string): boolean => {
    const until = slowUntil.get(owner);
    if (until === undefined) return false;
    if (until > monotonic()) return true;
    slowUntil.delete(owner);
    return false;
  };
  const wasSlow = (owner: string): void => {
    slowUntil.set(owner, monotonic() + SLOW_FOR_MS);
  };
  const ask = async (
    request: RenderRequest,
    { owner, path = '/body/markdown', unheard }: MarkdownOrder,
  ): Promise<AnyParts | Failure> => {
    const signal = unheard?.();
    try {
      // Its owner may belong into the other lane by its turn.
      let delivery = await usual.turn(
        owner,
        async (pool) => (isSlow(owner) ? ELSEWHERE : pool.ask(request)),
        signal,
      );
      if (delivery === ELSEWHERE) delivery = await slow.turn(owner, (pool) => pool.ask(request), signal);
      if (delivery === null && signal?.aborted) return UNHEARD;
      if (delivery === null) throw new UnavailableError('Rendering markdown: too many wait.');
      if (delivery.ms >= SLOW_MS) wasSlow(owner);
      return 'problem' in delivery ? invalidAt(path, delivery.problem) : delivery;
    } catch (reason) {
      if (isTimeout(reason)) wasSlow(owner);
      if (!(reason instanceof JobTimeout)) throw reason;
      return invalidAt(path, 'Must be simpler: it takes too long to render.');
    }
  };
  const askMarkdown = async (
    request: RenderRequest,
    order: MarkdownOrder,
  ): Promise<RenderedMarkdown | Failure> => {
    const rendered = await ask(request, order);
    if (rendered instanceof Failure) return rendered;
    return 'text' in rendered ? { html: rendered.html, text: rendered.text } : expectedParts();
  };
  return {
    render: (markdown, order) => askMarkdown({ markdown, title: order.title ?? '', ...framed(order) }, order),
    renderTemplate: (markdown, { previewText, ...order }) =>
      askMarkdown({ markdown, title: order.title ?? '', template: { previewText }, ...framed(order) }, order),
    async renderMjml(mjml, order) {
      const rendered = await ask({ mjml, ...framed(order) }, { path: '/body/mjml', ...order });
      if (rendered instanceof Failure) return rendered;
      return 'notes' in rendered ? { html: rendered.html, notes: rendered.notes } : expectedParts();
    },
    close() {
      usual.close();
      slow.close();
    },
  };
}

const framed = ({ language }: MarkdownOrder): { readonly direction: Direction } => ({
  direction: language ? directionOf(language) : 'ltr',
});

type AnyParts = RenderedMarkdown | RenderedMjml;

function expectedParts(): never {
  throw new Error('The thread answered another question.');
}

/** It is not thrown, since that is logged: a client that hangs up again and again must not fill a disk. */
const UNHEARD = new Failure('SERVICE_UNAVAILABLE', 'The markdown was not rendered in time.', {
  retryAfterSeconds: 1,
});
