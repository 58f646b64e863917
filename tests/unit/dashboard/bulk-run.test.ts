import { expect, test } from 'bun:test';
import { RequestError } from '../../../src/web/dashboard/web/application/api/requests.ts';
import { type BulkProgress, runBulk } from '../../../src/web/dashboard/web/application/ui/lists/bulk-run.ts';

const never = () => false;
const noWait = async () => {};
const refusal = (status: number, message: string) => new RequestError(status, message);

test('a bulk action changes every item, one after the other, and names those that it cannot change', async () => {
  const seen: BulkProgress<string>[] = [];
  const changed: string[] = [];
  const ended = await runBulk(['a', 'b', 'c'], {
    change: async (item) => {
      if (item === 'b') throw refusal(409, 'It is sent already.');
      changed.push(item);
    },
    onProgress: (progress) => seen.push(progress),
    wait: noWait,
    isStopped: never,
  });
  expect(changed).toEqual(['a', 'c']);
  expect(ended).toEqual({ done: 3, total: 3, failures: [{ item: 'b', message: 'It is sent already.' }] });
  expect(seen.map(({ done }) => done)).toEqual([1, 2, 3]);
});

test('an item for which requests came too fast is tried again after a pause, five times at most', async () => {
  const waits: number[] = [];
  const tries = new Map<string, number>();
  const ended = await runBulk(['once', 'always'], {
    change: async (item) => {
      const before = tries.get(item) ?? 0;
      tries.set(item, before + 1);
      if (item === 'always' || before === 0) throw refusal(429, 'Too fast.');
    },
    onProgress: () => {},
    wait: async (ms) => void waits.push(ms),
    isStopped: never,
  });
  expect(Object.fromEntries(tries)).toEqual({ once: 2, always: 5 });
  expect(waits).toEqual(Array.from({ length: 5 }, () => 1_000));
  expect(ended.failures).toEqual([{ item: 'always', message: 'Too fast.' }]);
});

test('a bulk action that is stopped leaves the rest as it is', async () => {
  let done = 0;
  const ended = await runBulk([1, 2, 3], {
    change: async () => void done++,
    onProgress: () => {},
    wait: noWait,
    isStopped: () => done === 2,
  });
  expect([done, ended.done, ended.total]).toEqual([2, 2, 3]);
});
