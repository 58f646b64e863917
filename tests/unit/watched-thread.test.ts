import { afterAll, expect, test } from 'bun:test';
import type { Job } from '../../src/mail/liquid/liquid-thread.ts';
import { WatchedThread } from '../../src/mail/liquid/watched-thread.ts';

const thread = new WatchedThread({ job: 60, start: 10_000, idle: 60_000 });
afterAll(() => thread.close());

const light = (v: number): Job => ({
  do: 'render',
  key: null,
  sources: { subject: '{{ v }}', previewText: null, html: null, text: null },
  scope: { names: { v }, now: 0 },
});
/** Seconds of reading: unlike a rendering, it does not see by itself that its time is over. */
const endless = (): Job => ({ do: 'examine', authored: { text: '{{ v }}'.repeat(1_000_000) } });
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
