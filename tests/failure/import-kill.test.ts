import { expect, test } from 'bun:test';
import { type ImportKillPlan, killImports } from './import-kill.ts';

const holdsOn = (database: ImportKillPlan['database'], rows: number) => async () => {
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
};

test(
  'an import that is killed with -9 on the way ends as an undisturbed one, on PostgreSQL',
  holdsOn('PostgreSQL', 12_000),
);

test(
  'an import that is killed with -9 on the way ends as an undisturbed one, on PGlite',
  holdsOn('PGlite', 5_000),
);
