import { expect, test } from 'bun:test';
import { type MadeMessage, makeMessages } from './visual-messages.ts';

/** `bun tests/failure/visual-messages-long.ts` makes forty of them, ten in Chromium. */
const COUNT = { count: 5, inBrowser: 2, seed: 1 };

test('messages that generated acts make with the visual editor leave as they are shown', async () => {
  const made: MadeMessage[] = [];
  await makeMessages(COUNT, (message) => made.push(message));
  expect(made).toHaveLength(COUNT.count);
  expect(made.filter(({ problems }) => problems.length > 0)).toEqual([]);
});
