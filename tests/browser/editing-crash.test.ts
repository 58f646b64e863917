import { expect, test } from 'bun:test';
import { type Kill, killWhileTyping } from './editing-crash.ts';

/** `bun tests/failure/editing-crash-long.ts` does it fifty times, and measures how much is lost. */
const KILLS = 3;

test('a browser that is killed during typing loses nothing that was kept', async () => {
  const outcomes: Kill[] = [];
  await killWhileTyping(KILLS, (kill) => outcomes.push(kill));
  expect(outcomes).toHaveLength(KILLS);
  for (const { typed, known, restored } of outcomes) {
    expect(restored.startsWith(known)).toBe(true);
    expect(typed.startsWith(restored)).toBe(true);
  }
});
