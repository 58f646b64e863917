import { expect, test } from 'bun:test';
import { killRepeatedly } from './kill.ts';

// The long form: bun tests/failure/kill-long.ts

for (const database of ['PGlite', 'PostgreSQL'] as const)
  test(`a kill of the service in mid-flight on ${database} loses nothing and doubles nothing`, async () => {
    const report = await killRepeatedly({ database, kills: 1, emails: [60, 200], say: () => {} });
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report).toMatchObject({
      lost: [],
      astray: [],
      stuck: [],
      doubled: [],
      keysNotOnce: 0,
      quotaDrift: 0,
      journalDrift: 0,
    });
  });
