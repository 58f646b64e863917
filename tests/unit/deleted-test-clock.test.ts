import { expect, test } from 'bun:test';
import type { Call } from '../../src/http/request/route.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { deleteTestClock } from '../../src/sending/test-clocks/commands.ts';
import type { ClockMover } from '../../src/sending/test-clocks/mover.ts';

const ROW = { workspace_id: 'ws_1', id: 'clk_1', status: 'ready', now_at: 0, target_at: 0 };
const CALL = {
  caller: { workspaceId: 'ws_1', livemode: false },
  params: { id: 'clk_1' },
} as unknown as Call<{
  readonly id: string;
}>;

/** A clock with something under way; what was asked of the database and of the mover is kept in order. */
function world(statusMeanwhile: 'ready' | 'advancing') {
  const asked: string[] = [];
  const underWay = Promise.withResolvers<void>();
  let looks = 0;
  const database = {
    query: async (text: string) => {
      if (text.includes('delete from test_clocks')) {
        asked.push('deleted');
        return [ROW];
      }
      looks += 1;
      return [{ ...ROW, status: looks === 1 ? 'ready' : statusMeanwhile }];
    },
  } as unknown as Database;
  const mover = {
    move: async () => {
      asked.push('moving');
      await underWay.promise;
      asked.push('moved');
    },
    end: async () => void asked.push('ended'),
  } as unknown as ClockMover;
  return { asked, underWay, deleted: () => deleteTestClock({ database, mover }, CALL) };
}

test('a clock is deleted once what its emails have begun with is done', async () => {
  const { asked, underWay, deleted } = world('ready');
  const answer = deleted();
  // Without the wait it would be deleted by then.
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  underWay.resolve();
  expect(await answer).toBeNull();
  expect(asked).toEqual(['moving', 'moved', 'deleted', 'ended']);
});

test('a clock that begins to advance meanwhile is not waited for, and stays', async () => {
  const { asked, underWay, deleted } = world('advancing');
  expect(await deleted()).toMatchObject({ code: 'CONFLICT' });
  expect(asked).toEqual(['moving']);
  underWay.resolve();
});
