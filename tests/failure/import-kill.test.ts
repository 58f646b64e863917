import { expect, test } from 'bun:test';
import { killImports } from './import-kill.ts';

// The long form, on both databases: bun tests/failure/import-kill-long.ts

/**
 * A fast machine may be done with a small file before it can be killed: the next one is four times as long.
 */
const ROWS = [12_000, 48_000, 192_000];

test('an import that is killed with -9 on the way ends as an undisturbed one', async () => {
  let isHit = false;
  for (const rows of ROWS) {
    const plan = { database: 'PostgreSQL', rows, kills: 2, say: () => {} } as const;
    const { undisturbed, killed, hits, wanted } = await killImports(plan);
    expect(undisturbed).toMatchObject({ status: 'completed', counts: wanted, progress: 1 });
    expect(killed).toEqual(undisturbed);
    // A kill after the end would prove nothing.
    isHit = hits.some((total) => total > 0 && total < rows);
    if (isHit) break;
  }
  expect(isHit).toBe(true);
});
