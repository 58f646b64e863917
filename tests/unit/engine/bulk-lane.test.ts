import { expect, test } from 'bun:test';
import { BulkLane, restAfter } from '../../../src/engine/runtime/bulk-lane.ts';
import { Batcher } from '../../../src/platform/async/batcher.ts';
import { eventually } from '../../support/eventually.ts';

test('bulk work rests for as long as its batch took while other work is about, a quarter of a second at most', () => {
  expect(restAfter(40, 0)).toBe(40);
  expect(restAfter(12.3, 999)).toBe(13);
  expect(restAfter(250, 0)).toBe(250);
  expect(restAfter(7_000, 0)).toBe(250);
  expect(restAfter(40, 1_000)).toBe(0);
  expect(restAfter(40, Number.POSITIVE_INFINITY)).toBe(0);
});

test('batches of bulk work leave one after the other, 64 items at the most', async () => {
  const sizes: number[] = [];
  let underWay = 0;
  const lane = new BulkLane<number>(
    'bulk',
    async (batch) => {
      expect(++underWay).toBe(1);
      sizes.push(batch.length);
      await Promise.resolve();
      underWay--;
    },
    () => 0,
    () => Number.NEGATIVE_INFINITY,
  );
  for (let n = 0; n < 130; n++) lane.push(n);
  await lane.drained();
  expect(sizes).toEqual([64, 64, 2]);
});

test('what comes while a lane rests goes with its next batch', async () => {
  const batches: (readonly number[])[] = [];
  const lane: Batcher<number> = new Batcher<number>(
    'resting',
    async (batch) => {
      batches.push(batch);
    },
    { batchItems: 10, batchBytes: 1_000, waitingItems: 10, waitingBytes: 1_000 },
    1,
    undefined,
    () => {
      if (batches.length > 1) return 0;
      // The first batch is over, and the lane begins to rest: what waits now would leave at once if it did
      // not.
      for (const item of [2, 3]) lane.push(item, 1);
      return 1;
    },
  );
  lane.push(1, 1);
  await eventually('all have left', async () => batches.flat().length === 3 || undefined);
  expect(batches).toEqual([[1], [2, 3]]);
});
