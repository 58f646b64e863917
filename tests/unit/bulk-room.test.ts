import { expect, test } from 'bun:test';
import type { Database } from '../../src/platform/db/database.ts';
import { bulkRoomOf, MOST_LEFT } from '../../src/sending/emails/bulk/bulk-room.ts';

/** The room with what waits in the database and how often that was asked. */
function world({ own = 0, others = 1, waiting = 0, tookMs = 0 }) {
  const state = { own, others, waiting, at: 0, asked: [] as unknown[] };
  const query = async (_: string, parameters: readonly unknown[]) => {
    state.asked.push(parameters[1]);
    state.at += tookMs;
    return [{ waiting: state.waiting }];
  };
  const room = bulkRoomOf({
    database: { query } as unknown as Database,
    clock: { now: () => state.at, monotonic: () => state.at },
    own: () => state.own,
    others: () => state.others,
  });
  return { state, room };
}

test('the room of this instance comes first, without a question to others', async () => {
  const { state, room } = world({ own: 7 });
  expect(await room(false)).toEqual({ count: 7, isElsewhere: false });
  expect(state.asked).toEqual([]);
});

test('an instance that is alone leaves nothing to others', async () => {
  const { state, room } = world({ others: 0 });
  expect(await room(false)).toEqual({ count: 0, isElsewhere: false });
  expect(state.asked).toEqual([]);
});

test('what others may not have has the room of this instance alone', async () => {
  const { state, room } = world({ others: 3 });
  expect(await room(true)).toEqual({ count: 0, isElsewhere: false });
  expect(state.asked).toEqual([]);
});

test('each other instance adds to what may wait, up to the last hundred', async () => {
  const { state, room } = world({ others: 3, waiting: 100 });
  expect(await room(false)).toEqual({ count: 3 * MOST_LEFT - 100, isElsewhere: true });
  // A chunk of those counts before it is read.
  expect((await room(false)).count).toBe(3 * MOST_LEFT - 228);
  state.at += 50;
  state.waiting = 3 * MOST_LEFT - 128;
  expect(await room(false)).toEqual({ count: 128, isElsewhere: true });
  state.at += 50;
  state.waiting += 1;
  expect(await room(false)).toEqual({ count: 0, isElsewhere: true });
});

test('while there is no room, the database is asked twenty times a second at the most', async () => {
  const { state, room } = world({ waiting: MOST_LEFT });
  for (state.at = 0; state.at < 100; state.at += 10) await room(false);
  expect(state.asked).toEqual([MOST_LEFT, MOST_LEFT]);
});

test('an answer that took long is asked for less often', async () => {
  const { state, room } = world({ waiting: MOST_LEFT, tookMs: 30 });
  const told: number[] = [];
  await room(false);
  for (const ms of [599, 1]) {
    state.at += ms;
    await room(false);
    told.push(state.asked.length);
  }
  expect(told).toEqual([1, 2]);
});
