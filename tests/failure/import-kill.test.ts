import { expect, test } from 'bun:test';
import { killImports } from './import-kill.ts';

// The long form, on both databases: bun tests/failure/import-kill-long.ts

test('an import that is killed with -9 on the way ends as an undisturbed one', async () => {
  const rows = 12_000;
  const plan = { database: 'PostgreSQL', rows, kills: 2, say: () => {} } as const;
  const { undisturbed, killed, hits, wanted } = await killImports(plan);
  expect(undisturbed).toMatchObject({ status: 'completed', counts: wanted, progress: 1 });
  expect(killed).toEqual(undisturbed);
  // A kill after the end would prove nothing.
  expect(hits.filter((total) => total > 0 && total < rows).length).toBeGreaterThan(0);
});
