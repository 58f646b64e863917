import { expect, test } from 'bun:test';
import { type ImportKillPlan, killImports } from './import-kill.ts';

async function endsUndisturbed(database: ImportKillPlan['database'], rows: number): Promise<void> {
  const { undisturbed, killed, hits, wanted } = await killImports({
    database,
    rows,
    kills: 2,
    say: () => {},
  });
  expect(undisturbed).toMatchObject({ status: 'completed', counts: wanted, progress: 1 });
  expect(killed).toEqual(undisturbed);
  // A kill after the end would prove nothing.
  expect(hits.filter((total) => total > 0 && total < rows).length).toBeGreaterThan(0);
}

test('an import that is killed with -9 on the way ends as an undisturbed one, on PostgreSQL', async () => {
  await endsUndisturbed('PostgreSQL', 12_000);
});

test('an import that is killed with -9 on the way ends as an undisturbed one, on PGlite', async () => {
  await endsUndisturbed('PGlite', 5_000);
});
