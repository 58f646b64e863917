import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import type { startMarkdownThread } from '../../src/mail/content/markdown-renderer.ts';
import type { RenderRequest, RenderResult } from '../../src/mail/content/markdown-thread.ts';
import { type RealService, startRealService } from './real-service.ts';

// The threads are played: heavy markdown takes them until the test lets go, so that renderings are counted
// and no time is measured.

const HEAVY = 'heavy';
/** More than a rendering may take before its owner has the thread of the slow ones. */
const HEAVY_MS = 1_900;

/** The renderings as they begin, each with its thread. */
const begun: { readonly thread: number; readonly markdown: string }[] = [];
const held: (() => void)[] = [];
const waiting: (() => void)[] = [];
let threads = 0;

const startMarkdown = (() => {
  const thread = ++threads;
  return {
    next: async () => ({ ready: null }),
    end() {},
    gone: new Promise(() => {}),
    async ask(request: RenderRequest): Promise<{ answer: RenderResult }> {
      const markdown = 'markdown' in request ? request.markdown : request.mjml;
      begun.push({ thread, markdown });
      for (const resolve of waiting.splice(0)) resolve();
      const isHeavy = markdown.startsWith(HEAVY);
      if (isHeavy) await new Promise<void>((resolve) => held.push(resolve));
      return { answer: { html: `<p>${markdown}</p>`, text: markdown, ms: isHeavy ? HEAVY_MS : 1 } };
    },
  };
}) as unknown as typeof startMarkdownThread;

const begins = async (isThere: () => boolean): Promise<void> => {
  while (!isThere()) await new Promise<void>((resolve) => waiting.push(resolve));
};

let service: RealService;
beforeAll(async () => {
  service = await startRealService({}, { startMarkdown });
});
afterAll(() => service[Symbol.asyncDispose]());

const keyOf = async (workspaceId: string): Promise<string> => {
  await service.service.database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'W', 'growth', now()) on conflict do nothing`,
    [workspaceId],
  );
  const issued = { workspaceId, livemode: false, name: 'Turns', permissions: ['*'] as const };
  return issueKey(service.service.engine, issued, Date.now());
};

type Send = (key: string, markdown: string) => ReturnType<RealService['ask']>;
const ROUTES: Readonly<Record<string, Send>> = {
  'POST /v1/templates/render-preview': (key, markdown) =>
    service.ask({
      method: 'POST',
      path: '/v1/templates/render-preview',
      key,
      body: { format: 'emailmd', subject: 's', markdown },
    }),
  'POST /v1/emails': (key, markdown) =>
    service.ask({
      method: 'POST',
      path: '/v1/emails',
      key,
      body: { from: 'a@acme.example', to: 'c@d.example', subject: 's', markdown },
    }),
};

describe('heavy markdown of another workspace costs a request one rendering at the most', () => {
  for (const [number, [route, send]] of Object.entries(ROUTES).entries())
    test(route, async () => {
      const [theirs, ours] = await Promise.all(
        ['a', 'b'].map((name) => keyOf(`ws_${`${number}${name}`.padEnd(24, '0')}`)),
      );
      const first = begun.length;
      const since = () => begun.slice(first);
      const flood = Array.from({ length: 40 }, (_, index) => send(theirs ?? '', `${HEAVY} ${index}`));
      const refused = Promise.race(flood).then(({ text }) => {
        if (since().length === 0) throw new Error(text);
      });
      await Promise.race([begins(() => since().length > 0), refused]);

      const requests = Array.from({ length: 10 }, (_, index) => send(ours ?? '', `ours ${index}`));
      const isOurs = ({ markdown }: { readonly markdown: string }) => markdown.startsWith('ours');
      let isAnswered = false;
      const answered = Promise.all(requests).finally(() => {
        isAnswered = true;
        for (const resolve of waiting.splice(0)) resolve();
      });
      // Heavy renderings that begin before ours are in line end one after the other: a busy machine may let
      // several pass.
      while (!isAnswered) {
        held.shift()?.();
        await Promise.race([answered, begins(() => held.length > 0 || isAnswered)]);
      }
      const answers = await answered;
      expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
      const usual = since()[0]?.thread;
      const onThread = since().filter(({ thread }) => thread === usual);
      expect(onThread.filter(isOurs)).toHaveLength(10);
      // From the first of ours on, none of them waits for two.
      const turns = onThread.slice(onThread.findIndex(isOurs), onThread.findLastIndex(isOurs) + 1);
      expect(turns.some((one, at) => !isOurs(one) && at > 0 && !isOurs(turns[at - 1] ?? one))).toBe(false);

      // Then theirs are answered as well, one after another on the thread of the slow ones.
      let left = true;
      const all = Promise.all(flood).finally(() => {
        left = false;
        for (const resolve of waiting.splice(0)) resolve();
      });
      while (left) {
        for (const release of held.splice(0)) release();
        await Promise.race([all, begins(() => held.length > 0 || !left)]);
      }
      expect(since().filter((each) => !isOurs(each))).toHaveLength(40);
    });
});
