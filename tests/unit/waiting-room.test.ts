import { expect, test } from 'bun:test';
import { FULL, GONE, WaitingRoom, type WaitTarget } from '../../src/platform/async/waiting-room.ts';

/** A room whose looks a test answers one by one. */
function openRoom(hasOthers = false) {
  const looks: {
    wanted: readonly WaitTarget[];
    answer(found: readonly (string | null)[]): void;
    fail(): void;
  }[] = [];
  let heard = Promise.withResolvers<void>();
  const room = new WaitingRoom<WaitTarget>({
    limits: { each: 2, total: 3 },
    now: () => 0,
    hasOthers,
    moveOn: (want) => ({ ...want, after: `${want.after}+` }),
    look: (wanted) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly (string | null)[]>();
      looks.push({ wanted, answer: resolve, fail: () => reject(new Error('The database is away.')) });
      heard.resolve();
      heard = Promise.withResolvers();
      return promise;
    },
  });
  const look = async () => {
    while (looks.length === 0) await heard.promise;
    return looks.shift() as (typeof looks)[number];
  };
  return { room, look };
}
const LONG = 60_000;
const want = (group = 'ws') => ({ group, after: 'em_' });

test('one look serves everybody, and what comes while it runs is looked for again', async () => {
  const { room, look } = openRoom();
  const early = room.wait('a', want(), LONG);
  const begun = await look();
  const late = room.wait('b', want(), LONG);
  begun.answer([null]);
  const both = await look();
  expect(both.wanted.map(({ after }) => after)).toEqual(['em_+', 'em_']);
  room.came('ws');
  both.answer([null, null]);
  (await look()).answer(['em_1', 'em_2']);
  expect(await Promise.all([early, late])).toEqual(['em_1', 'em_2']);
  expect(room.isEmpty).toBe(true);
});

test('what comes elsewhere wakes no caller, and without a time the first look decides', async () => {
  const { room, look } = openRoom();
  const waiting = room.wait('a', want(), LONG);
  (await look()).answer([null]);
  room.came('another');
  const short = room.wait('b', want(), 0);
  (await look()).answer([null, null]);
  expect(await short).toBeNull();
  room.came('ws');
  (await look()).answer(['em_1']);
  expect(await waiting).toBe('em_1');
});

test('places are bounded for each holder and for all, and are given back', async () => {
  const { room, look } = openRoom();
  const waiting = [room.wait('a', want(), LONG), room.wait('a', want(), LONG)];
  expect(await room.wait('a', want(), LONG)).toBe(FULL);
  waiting.push(room.wait('b', want(), LONG));
  expect(await room.wait('c', want(), LONG)).toBe(FULL);
  // All wait already when the second look begins, if the first did not see all of them.
  for (let left = 3; left > 0; ) {
    const { wanted, answer } = await look();
    answer(wanted.map((_, index) => `${index}`));
    left -= wanted.length;
  }
  await Promise.all(waiting);
  const again = room.wait('a', want(), LONG);
  (await look()).answer(['4']);
  expect(await again).toBe('4');
});

test('who goes away gives the place back at once, and who is gone takes none', async () => {
  const { room, look } = openRoom();
  const gone = new AbortController();
  const waiting = [room.wait('a', want(), LONG, gone.signal), room.wait('a', want(), LONG, gone.signal)];
  gone.abort();
  expect(await Promise.all(waiting)).toEqual([GONE, GONE]);
  expect(room.isEmpty).toBe(true);
  expect(await room.wait('a', want(), LONG, gone.signal)).toBe(GONE);
  (await look()).answer([null, null]);
  const again = room.wait('a', want(), LONG);
  (await look()).answer(['em_1']);
  expect(await again).toBe('em_1');
});

test('a look that fails is an error for the caller whose first it was; the others wait on', async () => {
  const { room, look } = openRoom(true);
  const early = room.wait('a', want(), LONG);
  (await look()).answer([null]);
  const late = room.wait('b', want(), LONG);
  (await look()).fail();
  await expect(late).rejects.toThrow('away');
  // Others bring something too: it is looked for without anybody having told.
  (await look()).answer(['em_1']);
  expect(await early).toBe('em_1');
});
