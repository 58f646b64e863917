import { expect, test } from 'bun:test';
import { afterWork } from '../../src/engine/duties/after-work.ts';

const world = (kind: 'embedded' | 'postgres') => {
  const database = { kind, worked: 1 };
  const answers: (boolean | Error)[] = [];
  let runs = 0;
  const run = afterWork(database, async () => {
    runs += 1;
    const answer = answers.shift() ?? true;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { database, answers, run, runs: () => runs };
};

test('an idle service with the embedded database does not repeat a duty that left nothing to do', async () => {
  const { database, run, runs } = world('embedded');
  for (let time = 0; time < 3; time++) await run();
  expect(runs()).toBe(1);
  database.worked += 1;
  for (let time = 0; time < 3; time++) await run();
  expect(runs()).toBe(2);
});

test('one that left something, or failed, is repeated', async () => {
  const { answers, run, runs } = world('embedded');
  answers.push(false, new Error('The database does not answer.'));
  await run();
  await expect(run()).rejects.toThrow('does not answer');
  await run();
  await run();
  expect(runs()).toBe(3);
});

test('work that comes while it runs has it run again', async () => {
  const { database, run, runs } = world('embedded');
  const first = run();
  database.worked += 1;
  await first;
  await run();
  expect(runs()).toBe(2);
});

test('on a server others may have written', async () => {
  const { run, runs } = world('postgres');
  for (let time = 0; time < 3; time++) await run();
  expect(runs()).toBe(3);
});
