import { expect, test } from 'bun:test';
import { RequestError } from '../../../src/web/dashboard/web/application/api/requests.ts';
import type { Draft } from '../../../src/web/dashboard/web/application/editing/draft.ts';
import {
  DraftKeeper,
  KEPT_WITHIN_MS,
  MANY_SENT_WITHIN_MS,
  SENT_AGAIN_MS,
  SENT_WITHIN_MS,
} from '../../../src/web/dashboard/web/application/editing/draft-keeper.ts';

// All that is unsaved is kept, and nothing else, in any order of requests, answers and keys.

const KEY = 'page-1 ws live campaigns/cmp_1';

/** An edit of one text, a browser that keeps at once, and a service that answers when the test says so. */
class Scene {
  saved = '';
  typed = '';
  #values: object = {};
  browser: string | null = null;
  service: string | null = null;
  readonly told = { kept: null as number | null, sent: null as number | null };
  readonly requests: { readonly says: string; answer(error?: Error): Promise<void> }[] = [];
  readonly #timers = new Set<{ readonly ms: number; act(): void }>();
  readonly keeper = new DraftKeeper({
    isUnsaved: () => this.typed !== this.saved,
    values: () => this.#values,
    draft: (): Draft => ({
      key: KEY,
      account: 'acc_1',
      place: 'ws live campaigns/cmp_1',
      at: 1,
      updatedAt: 'then',
      values: { text: this.typed },
      sums: { text: 'a' },
    }),
    browser: {
      keep: async ({ values }) => {
        this.browser = String(values.text);
        return true;
      },
      remove: () => {
        this.browser = null;
      },
    },
    service: {
      keep: ({ values }) =>
        this.#ask(`keep ${values.text}`, 7, () => {
          this.service = String(values.text);
        }),
      remove: () =>
        this.#ask('remove', null, () => {
          this.service = null;
        }),
    },
    onKept: (at) => {
      this.told.kept = at;
    },
    onSent: (at) => {
      this.told.sent = at;
    },
    after: (ms, act) => {
      const timer = { ms, act };
      this.#timers.add(timer);
      return () => void this.#timers.delete(timer);
    },
  });

  #ask<Answer>(says: string, answer: Answer, carryOut: () => void): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.requests.push({
      says,
      answer: async (error) => {
        if (error) reject(error);
        else {
          carryOut();
          resolve(answer);
        }
        for (let turn = 0; turn < 10; turn++) await null;
      },
    });
    return promise;
  }

  type(text: string): void {
    this.typed = text;
    this.#values = {};
    this.keeper.follow();
  }
  save(): void {
    this.saved = this.typed;
    this.keeper.follow();
  }
  /** Lets that time pass. */
  async pass(ms: number): Promise<void> {
    for (const timer of [...this.#timers]) if (timer.ms <= ms && this.#timers.delete(timer)) timer.act();
    for (let turn = 0; turn < 10; turn++) await null;
  }
  get waits(): readonly number[] {
    return [...this.#timers].map(({ ms }) => ms);
  }
  get asked(): readonly string[] {
    return this.requests.map(({ says }) => says);
  }
}

test('what is typed is kept in the browser first, then on the service, and both forget it once it is saved', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(KEPT_WITHIN_MS);
  expect([scene.browser, scene.asked, scene.told.kept]).toEqual(['a', [], 1]);
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[0]?.answer();
  expect([scene.service, scene.told.sent]).toEqual(['a', 7]);
  scene.save();
  await scene.requests[1]?.answer();
  expect([scene.browser, scene.service, scene.told]).toEqual([null, null, { kept: null, sent: null }]);
  await scene.pass(SENT_AGAIN_MS);
  expect(scene.asked).toEqual(['keep a', 'remove']);
});

test('a draft that is on its way while its text is saved does not come back', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  scene.save();
  // The removal waits for the answer: the service might carry them out in the other order.
  expect(scene.asked).toEqual(['keep a']);
  await scene.requests[0]?.answer();
  expect([scene.asked, scene.told.sent]).toEqual([['keep a', 'remove'], null]);
  await scene.requests[1]?.answer();
  expect(scene.service).toBeNull();
});

test('text that is typed while an earlier draft is on its way stays, here and there', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  scene.save();
  scene.type('ab');
  await scene.pass(KEPT_WITHIN_MS);
  await scene.requests[0]?.answer();
  // The answer is about a text that is saved.
  expect([scene.browser, scene.told.sent, scene.asked]).toEqual(['ab', null, ['keep a']]);
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[1]?.answer();
  expect([scene.browser, scene.service, scene.asked]).toEqual(['ab', 'ab', ['keep a', 'keep ab']]);
});

test('a draft that is typed while the removal of an earlier one is on its way follows it', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[0]?.answer();
  scene.save();
  scene.type('ab');
  await scene.pass(SENT_WITHIN_MS);
  expect(scene.asked).toEqual(['keep a', 'remove']);
  await scene.requests[1]?.answer();
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[2]?.answer();
  expect([scene.service, scene.browser, scene.told.sent]).toEqual(['ab', 'ab', 7]);
});

test('text that is typed during a request is sent after it', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  scene.type('ab');
  await scene.pass(SENT_WITHIN_MS);
  expect(scene.asked).toEqual(['keep a']);
  await scene.requests[0]?.answer();
  await scene.pass(SENT_WITHIN_MS);
  expect(scene.asked).toEqual(['keep a', 'keep ab']);
});

test.each([
  ['does not answer', new RequestError(0, 'Away.'), true],
  ['has no room now', new RequestError(503, 'Later.'), true],
  ['answers too many requests', new RequestError(429, 'Slower.'), true],
  ['refuses it', new RequestError(422, 'Too large.'), false],
])(
  'a draft that the service %s, and its removal, are asked for again where that can help',
  async (_, error, isRepeated) => {
    const scene = new Scene();
    scene.type('a');
    await scene.pass(SENT_WITHIN_MS);
    await scene.requests[0]?.answer(error);
    expect(scene.told.sent).toBeNull();
    await scene.pass(SENT_AGAIN_MS);
    expect(scene.asked).toEqual(isRepeated ? ['keep a', 'keep a'] : ['keep a']);
    await scene.requests[1]?.answer();
    scene.save();
    await scene.requests.at(-1)?.answer(error);
    await scene.pass(SENT_AGAIN_MS);
    expect(scene.asked.filter((each) => each === 'remove')).toHaveLength(isRepeated ? 2 : 1);
  },
);

test('nothing is kept after the member has signed out', async () => {
  const scene = new Scene();
  scene.type('a');
  scene.keeper.end();
  await scene.pass(SENT_AGAIN_MS);
  expect([scene.browser, scene.asked]).toEqual([null, []]);
});

test('a draft that is discarded just before signing out is removed on the service first', async () => {
  const scene = new Scene();
  scene.type('secret');
  await scene.pass(SENT_WITHIN_MS);
  scene.type('');
  let isSettled = false;
  const settled = scene.keeper.settle().then(() => {
    isSettled = true;
  });
  await scene.requests[0]?.answer();
  expect([scene.asked, isSettled]).toEqual([['keep secret', 'remove'], false]);
  await scene.requests[1]?.answer(new RequestError(503, 'Later.'));
  await settled;
  // It is asked for once more, and not after ten seconds.
  const again = scene.keeper.settle();
  await scene.requests[2]?.answer();
  await again;
  scene.keeper.end();
  expect([scene.service, scene.asked]).toEqual([null, ['keep secret', 'remove', 'remove']]);
});

test('a page that is left sends no text any more, and still removes', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  scene.keeper.leave();
  await scene.requests[0]?.answer(new RequestError(503, 'Later.'));
  await scene.pass(SENT_AGAIN_MS);
  expect([scene.browser, scene.asked]).toEqual(['a', ['keep a']]);
  scene.save();
  scene.keeper.leave();
  await scene.requests[1]?.answer(new RequestError(503, 'Later.'));
  await scene.pass(SENT_AGAIN_MS);
  expect(scene.asked).toEqual(['keep a', 'remove', 'remove']);
});

test('a draft that another page removes while it is on its way is sent again', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  scene.keeper.again();
  await scene.requests[0]?.answer();
  await scene.pass(SENT_WITHIN_MS);
  expect(scene.asked).toEqual(['keep a', 'keep a']);
  await scene.requests[1]?.answer();
  await scene.pass(SENT_AGAIN_MS);
  expect(scene.asked).toHaveLength(2);
});

test('text that is typed after a removal that failed waits no longer than other text', async () => {
  const scene = new Scene();
  scene.type('a');
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[0]?.answer();
  scene.save();
  await scene.requests[1]?.answer(new RequestError(503, 'Later.'));
  expect(scene.waits).toEqual([SENT_AGAIN_MS]);
  scene.type('ab');
  await scene.pass(SENT_WITHIN_MS);
  expect(scene.asked).toEqual(['keep a', 'remove', 'keep ab']);
});

test('a long text is sent less often than a short one', async () => {
  const scene = new Scene();
  const long = 'a'.repeat(100_001);
  scene.type(long);
  await scene.pass(SENT_WITHIN_MS);
  await scene.requests[0]?.answer();
  scene.type(`${long}b`);
  expect(scene.waits).toContain(MANY_SENT_WITHIN_MS);
  expect(scene.waits).not.toContain(SENT_WITHIN_MS);
});
