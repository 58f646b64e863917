import { expect, test } from 'bun:test';
import { BatchedRead } from '../../src/platform/async/batched-read.ts';
import { untilNextTurn } from '../../src/platform/async/batcher.ts';

/** A read whose statements answer with their number, and a rest that ends when the test says so. */
function resting() {
  const asked: (readonly string[])[] = [];
  const rests: (() => void)[] = [];
  const read = new BatchedRead<string, number>(
    'counted',
    async (questions) => {
      asked.push(questions);
      if (questions.includes('bad')) throw new Error('no answer');
      const nth = asked.length;
      return () => nth;
    },
    undefined,
    1,
    () => new Promise((resolve) => rests.push(resolve)),
  );
  return { asked, read, endRest: () => rests.shift()?.() };
}

const aWhile = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await untilNextTurn();
};

test('questions during the rest share the statement after it, and no statement answers a question that came after its beginning', async () => {
  const { asked, read, endRest } = resting();
  expect(await read.ask('first')).toBe(1);
  const later = [read.ask('second'), read.ask('third')];
  await aWhile();
  expect(asked).toEqual([['first']]);
  endRest();
  expect(await Promise.all(later)).toEqual([2, 2]);
  expect(asked).toEqual([['first'], ['second', 'third']]);
});

test('a statement that fails rests as well, and the next one is answered', async () => {
  const { asked, read, endRest } = resting();
  await expect(read.ask('bad')).rejects.toThrow('no answer');
  const later = read.ask('good');
  await aWhile();
  expect(asked).toEqual([['bad']]);
  endRest();
  expect(await later).toBe(2);
});
