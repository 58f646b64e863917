import { expect, test } from 'bun:test';
import { hearOthers, News } from '../../src/engine/news.ts';
import { eventually } from '../support/eventually.ts';

/** An instance, and the notifications that it sends. */
function instance({ hasOthers = true, isAway = false } = {}) {
  const sent: (readonly string[])[] = [];
  const state = { isAway };
  const query = async (_: string, [topics]: readonly unknown[] = []): Promise<[]> => {
    sent.push(topics as readonly string[]);
    if (state.isAway) throw new Error('The database is away.');
    return [];
  };
  const news = new News({ database: { query } as never, id: 'me', hasOthers: () => hasOthers });
  return { news, sent, state };
}

test('many calls are one notification at once, and one for all that come while it pauses', async () => {
  const { news, sent } = instance();
  for (let n = 0; n < 1_000; n++) news.tell('work');
  expect(sent).toEqual([['work me']]);
  for (let n = 0; n < 1_000; n++) news.tell('work');
  news.tell('watch');
  await eventually('the second', () => sent.length > 1 || undefined);
  expect(sent).toEqual([['work me'], ['work me', 'watch me']]);
});

test('an instance that is alone tells nothing, and one that cannot tell goes on', async () => {
  const alone = instance({ hasOthers: false });
  alone.news.tell('work');
  expect(alone.sent).toEqual([]);
  const away = instance({ isAway: true });
  away.news.tell('work');
  await eventually('another try', () => away.sent.length > 1 || undefined);
});

test('a notification reaches the listeners of its topic, unless this instance has sent it', () => {
  const { news } = instance();
  const heard: string[] = [];
  news.on('work', () => heard.push('work'));
  news.on('watch', () => heard.push('watch'));
  for (const payload of ['work you', 'work me', 'watch you', 'else you', '']) news.heard(payload);
  expect(heard).toEqual(['work', 'watch']);
});

test('a change is reported once', () => {
  const { news } = instance();
  const states: boolean[] = [];
  news.onHearing(() => states.push(news.hears));
  for (const hears of [false, true, true, false]) news.hears = hears;
  expect(states).toEqual([true, false]);
});

test('a notification that fails is sent again, at the latest when the instance stops', async () => {
  const { news, sent, state } = instance({ isAway: true });
  news.tell('work');
  state.isAway = false;
  await news.stop();
  expect(sent).toEqual([['work me'], ['work me']]);
  news.tell('left');
  await news.stop();
  expect(sent).toHaveLength(2);
});

test('an instance looks at once for what others tell of, and for nothing else', () => {
  const news = new News({ database: { query: async () => [] }, id: 'me', hasOthers: () => true });
  let done: string[] = [];
  const engine = { lookNow: () => done.push('work'), othersLeft: () => done.push('timers') };
  hearOthers(news, engine, () => done.push('duties'));
  const after = (payload: string): readonly string[] => {
    done = [];
    news.heard(payload);
    return done;
  };
  expect(after('work you')).toEqual(['work']);
  expect(after('left you')).toEqual(['timers', 'duties']);
  expect(after('duties you')).toEqual(['duties']);
  for (const payload of ['here you', 'watch you', 'work me', 'left me', 'duties me'])
    expect(after(payload)).toEqual([]);
});
