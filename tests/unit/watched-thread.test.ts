import { afterAll, expect, test } from 'bun:test';
import type { Job } from '../../src/mail/liquid/liquid-thread.ts';
import { type LiquidThread, WatchedThread } from '../../src/mail/liquid/watched-thread.ts';

const thread = new WatchedThread({ job: 60, start: 10_000, idle: 60_000 });
afterAll(() => thread.close());

const light = (v: number): Job => ({
  do: 'render',
  key: null,
  sources: { subject: '{{ v }}', previewText: null, html: null, text: null },
  scope: { names: { v }, now: 0 },
});
/** Seconds of reading: unlike a rendering, it does not see by itself that its time is over. */
const endless = (): Job => ({
  do: 'examine',
  rules: {},
  authored: { text: '{{ v }}'.repeat(1_000_000) },
});
const told = (ran: Awaited<ReturnType<typeof thread.run>>) =>
  ran.map((each) => (typeof each === 'object' && 'rendered' in each ? each.rendered.subject : each));

test('batches that are asked at once are done in order, and the one job that does not end is known', async () => {
  const [first, second, third] = await Promise.all([
    thread.run([light(1), light(2)]),
    thread.run([light(3), endless(), light(5)]),
    thread.run([light(6)]),
  ]);
  expect(told(first)).toEqual(['1', '2']);
  expect(told(second)).toEqual(['again', 'late', 'again']);
  expect(told(third)).toEqual(['again']);
  // One thread is started for both, and neither ends that of the other.
  const again = await Promise.all([thread.run([light(3), light(5)]), thread.run([light(6)])]);
  expect(again.map(told)).toEqual([['3', '5'], ['6']]);
});

test('closing it while batches are under way rejects each of them', async () => {
  const running = [thread.run([endless()]), thread.run([light(2)])];
  const settled = Promise.allSettled(running);
  thread.close();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(told(await thread.run([light(3)]))).toEqual(['3']);
});

/** A thread that answers nothing, and goes on after its end until `gone` is resolved. */
function stuckThread(progress: number) {
  const gone = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<never>();
  const given = Promise.withResolvers<void>();
  const thread = {
    gone: gone.promise,
    next: async () => ({ ready: null }),
    ask: async (question: unknown) => {
      if (typeof question !== 'object' || question === null || !('progress' in question)) {
        given.resolve();
        return ended.promise;
      }
      Atomics.store(new Int32Array(question.progress as SharedArrayBuffer), 0, progress);
      return { answer: [] };
    },
    end: (reason: Error) => ended.reject(reason),
  };
  return { gone, given: given.promise, thread: thread as unknown as LiquidThread };
}

test('no third thread is started while two that were ended are still at it', async () => {
  const stuck: ReturnType<typeof stuckThread>[] = [];
  const watched = new WatchedThread({ job: 60_000, start: 10_000, idle: 60_000 }, () => {
    const made = stuckThread(0);
    stuck.push(made);
    return made.thread;
  });
  const runAndEnd = async () => {
    const running = watched.run([light(1)]);
    await stuck.at(-1)?.given;
    watched.close();
    await expect(running).rejects.toThrow('stopping');
  };
  await runAndEnd();
  await runAndEnd();
  await expect(watched.run([light(2)])).rejects.toThrow('what took too long before is not over yet');
  expect(stuck).toHaveLength(2);
  stuck[0]?.gone.resolve();
  await stuck[0]?.gone.promise;
  await runAndEnd();
  expect(stuck).toHaveLength(3);
});

test('where the time of a thread is not counted, a job that it stays at is perhaps late', async () => {
  const { thread, gone } = stuckThread(1);
  const watched = new WatchedThread({ job: 20, start: 10_000, idle: 60_000 }, () => thread);
  const running = watched.run([light(1), light(2)]);
  let isOver = false;
  void running.then(() => {
    isOver = true;
  });
  // The process has to use up the time, as it does where other requests keep it busy.
  while (!isOver) {
    for (const begun = performance.now(); performance.now() < begun + 5; );
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(told(await running)).toEqual(['perhapsLate', 'again']);
  gone.resolve();
});
