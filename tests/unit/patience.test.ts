import { expect, test } from 'bun:test';
import { Patience } from '../../src/ops/torture/patience.ts';

/** The pauses of a millisecond that make eight where that many processes share a core. */
async function pausesAt(crowd: number): Promise<number> {
  const patience = new Patience(8, () => crowd);
  let pauses = 0;
  for (; patience.lasts; pauses++) await patience.pause(1);
  return pauses;
}

test.each([
  ['an idle machine', 0, 8],
  ['one process a core', 1, 8],
  ['two processes a core', 2, 16],
  ['four a core, the most that counts', 4, 32],
  ['fifty a core', 50, 32],
])('patience lasts as much longer as work takes: %s', async (_, crowd, pauses) => {
  expect(await pausesAt(crowd)).toBe(pauses);
});
