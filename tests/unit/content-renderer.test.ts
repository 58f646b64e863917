import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import {
  createMarkdownRenderer,
  type MarkdownRenderer,
  startMarkdownThread,
} from '../../src/mail/content/markdown-renderer.ts';
import type { RenderRequest } from '../../src/mail/content/markdown-thread.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { JobTimeout, type PoolLimits } from '../../src/platform/threads/worker-pool.ts';

const sourceOf = (request: RenderRequest): string =>
  'markdown' in request ? request.markdown : request.mjml;

/** More buttons than there may be, which are counted after they have been made: it takes minutes. */
const ENDLESS = '[a](b){button}'.repeat(18_000);

const OURS = { owner: 'ours' };

const open: MarkdownRenderer[] = [];

/** As long as it takes: how fast a machine renders is not what is shown here. */
const PATIENT = { deadlineMs: 600_000, startMs: 600_000 };

const rendererWith = (limits: Partial<PoolLimits> = {}, start = startMarkdownThread): MarkdownRenderer => {
  const renderer = createMarkdownRenderer({ ...PATIENT, ...limits }, start);
  open.push(renderer);
  return renderer;
};

/** A thread that notes what it is asked, and answers the same to everything. */
const threadThat = (notes: (request: RenderRequest) => void) => () =>
  ({
    next: async () => ({ ready: null }),
    end() {},
    gone: new Promise(() => {}),
    async ask(request: RenderRequest) {
      notes(request);
      return { answer: { html: '', text: '', ms: 0 } };
    },
  }) as unknown as ReturnType<typeof startMarkdownThread>;

afterEach(() => {
  for (const renderer of open.splice(0)) renderer.close();
});

/** One for all tests that end no thread: each start reads mjml, which takes 0.6 s of processor time. */
const usual = createMarkdownRenderer(PATIENT, startMarkdownThread);
afterAll(() => usual.close());

const texts = async (outcomes: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.all(outcomes)).map((outcome) => (outcome as { text?: string }).text ?? outcome);

describe('the markdown renderer', () => {
  test('makes both parts, titled by the subject', async () => {
    const rendered = await usual.render('# Hi {{ name }}', { ...OURS, title: 'Tea & milk' });
    if (rendered instanceof Failure) throw new Error(rendered.message);
    expect(rendered.text).toBe('Hi {{ name }}');
    expect(rendered.html).toContain('<title>Tea &amp; milk</title>');
  });

  test('reports a wrong markdown as a separate 422', async () => {
    const failure = await usual.render('---\ntheme: neon\n---\nHi', OURS);
    expect(failure).toEqual(
      new Failure('VALIDATION_ERROR', 'One value of the request is not valid.', {
        details: [
          { path: '/body/markdown', message: 'Must have in its frontmatter, as theme, light or dark.' },
        ],
      }),
    );
  });

  test('answers each with its own, many at once and on several threads', async () => {
    const renderer = rendererWith({ threads: 2 });
    const numbers = Array.from({ length: 40 }, (_, number) => `number ${number}`);
    expect(await texts(numbers.map((text) => renderer.render(text, { owner: text })))).toEqual(numbers);
  });

  test('leaves the thread that answers requests free', async () => {
    await usual.render('warm', OURS);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await usual.render('Some *words* of [prose](https://x.co).\n\n'.repeat(2_000), OURS);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(3);
  });

  test('ends what takes too long, and goes on with the next', async () => {
    // Processor time of the thread, which no other work on the machine uses up.
    const renderer = rendererWith({ deadlineMs: 1_000 });
    const [bomb, next] = await Promise.all([renderer.render(ENDLESS, OURS), renderer.render('next', OURS)]);
    expect(bomb).toBeInstanceOf(Failure);
    expect((bomb as Failure).extra.details?.[0]?.message).toContain('takes too long');
    expect(next).toMatchObject({ text: 'next' });
  });

  test('starts no more threads while those that nothing stops are at it, and does afterwards', async () => {
    const threads: PromiseWithResolvers<void>[] = [];
    const stuck = () => {
      const gone = Promise.withResolvers<void>();
      threads.push(gone);
      return {
        next: async () => ({ ready: null }),
        end() {},
        gone: gone.promise,
        ask: () => Promise.reject(new JobTimeout('late')),
      };
    };
    const renderer = createMarkdownRenderer({}, stuck as unknown as typeof startMarkdownThread);
    open.push(renderer);
    for (const owner of ['one', 'two'])
      expect(await renderer.render('a bomb', { owner })).toBeInstanceOf(Failure);
    await expect(renderer.render('next', OURS)).rejects.toThrow('what took too long before is not over yet');
    threads[0]?.resolve();
    await threads[0]?.promise;
    expect(await renderer.render('another bomb', OURS)).toBeInstanceOf(Failure);
    expect(threads).toHaveLength(3);
  });

  test('renders what one sends who was slow on a thread apart, so that others wait for one rendering at the most', async () => {
    const begun: string[] = [];
    let lane = 0;
    const start = () => {
      const name = `thread ${++lane}`;
      return {
        next: async () => ({ ready: null }),
        end() {},
        gone: new Promise(() => {}),
        async ask(request: RenderRequest) {
          const markdown = sourceOf(request);
          begun.push(`${markdown} on ${name}`);
          if (markdown === 'bomb') throw new JobTimeout('late');
          return { answer: { html: '', text: '', ms: markdown === 'heavy' ? 600 : 1 } };
        },
      } as unknown as ReturnType<typeof startMarkdownThread>;
    };
    let now = 0;
    const renderer = createMarkdownRenderer({}, start, () => now);
    open.push(renderer);
    const heavy = ['heavy', 'heavy', 'heavy'].map((text) => renderer.render(text, { owner: 'theirs' }));
    const ours = ['a', 'b'].map((text) => renderer.render(text, OURS));
    await Promise.all([...heavy, ...ours]);
    expect(begun.filter((each) => each.endsWith('thread 1'))).toEqual([
      'heavy on thread 1',
      'a on thread 1',
      'b on thread 1',
    ]);
    expect(begun.filter((each) => each === 'heavy on thread 2')).toHaveLength(2);
    now = 61_000;
    await renderer.render('light', { owner: 'theirs' });
    expect(begun.at(-1)).toBe('light on thread 1');
    // Content that ends a thread again and again ends threads of its lane alone.
    for (const _ of [1, 2]) await renderer.render('bomb', { owner: 'theirs' });
    await renderer.render('c', OURS);
    expect(begun.at(-1)).toStartWith('c on thread');
  });

  test('lets only so many wait', async () => {
    const renderer = rendererWith({ mostWaiting: 3 });
    const accepted = ['one', 'two', 'three'].map((text) => renderer.render(text, OURS));
    await expect(renderer.render('four', OURS)).rejects.toBeInstanceOf(UnavailableError);
    expect(await texts(accepted)).toEqual(['one', 'two', 'three']);
    expect(await texts([renderer.render('five', OURS)])).toEqual(['five']);
  });

  test('lets owners take turns, however much one of them has waiting', async () => {
    const begun: string[] = [];
    const renderer = createMarkdownRenderer(
      {},
      threadThat((request) => begun.push(sourceOf(request))),
    );
    open.push(renderer);
    const theirs = ['one', 'two', 'three'].map((text) => renderer.render(text, { owner: 'theirs' }));
    await Promise.all([...theirs, renderer.render('ours', OURS)]);
    expect(begun).toEqual(['one', 'ours', 'two', 'three']);
  });

  test('does not begin work whose caller has hung up', async () => {
    const begun: string[] = [];
    const renderer = createMarkdownRenderer(
      {},
      threadThat((request) => begun.push(sourceOf(request))),
    );
    open.push(renderer);
    const leaving = new AbortController();
    const order = { ...OURS, unheard: () => leaving.signal };
    const first = renderer.render('first', order);
    const [left, last] = [renderer.render('left', order), renderer.render('last', OURS)];
    leaving.abort();
    // No error, which would be logged.
    for (const unheard of [left, renderer.render('late', order)])
      expect(await unheard).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await Promise.all([first, last]);
    expect(begun).toEqual(['first', 'last']);
  });

  test('starts a thread with the first markdown, and again after it had no work for some time', async () => {
    let starts = 0;
    let retired: () => void = () => {};
    const retirement = new Promise<void>((resolve) => {
      retired = resolve;
    });
    const start = () => {
      starts++;
      const thread = startMarkdownThread();
      const end = thread.end.bind(thread);
      thread.end = (reason) => {
        end(reason);
        retired();
      };
      return thread;
    };
    const renderer = createMarkdownRenderer({ ...PATIENT, idleMs: 50 }, start);
    open.push(renderer);
    expect(starts).toBe(0);
    expect(await texts([renderer.render('one', OURS), renderer.render('two', OURS)])).toEqual(['one', 'two']);
    expect(starts).toBe(1);
    await retirement;
    expect(await texts([renderer.render('three', OURS)])).toEqual(['three']);
    expect(starts).toBe(2);
  });

  test('refuses who waits when it is closed, and everybody after that', async () => {
    const renderer = rendererWith();
    await renderer.render('warm', OURS);
    const outcomes = Promise.allSettled([renderer.render(ENDLESS, OURS), renderer.render('waiting', OURS)]);
    renderer.close();
    for (const outcome of await outcomes) {
      expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(UnavailableError);
    }
    await expect(renderer.render('late', OURS)).rejects.toBeInstanceOf(UnavailableError);
  });

  test('that does not start in time is unavailable, and tries again with the next', async () => {
    const renderer = rendererWith({ startMs: 0 });
    await expect(renderer.render('one', OURS)).rejects.toBeInstanceOf(UnavailableError);
    await expect(renderer.render('two', OURS)).rejects.toBeInstanceOf(UnavailableError);
  });
});
