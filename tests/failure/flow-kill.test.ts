import { expect, test } from 'bun:test';
import { killRuns } from './flow-kill.ts';

// The long form: bun tests/failure/flow-kill-long.ts

test('runs on two instances that are killed with -9 are one a contact, and send each mail once', async () => {
  const rows = 200;
  const plan = { instances: 2, kills: 2, restMs: 2_000, leaseMs: 1_500, everyMs: 20 };
  const { contacts, mails, copies: _, hits, ...wrong } = await killRuns({ rows, ...plan, say: () => {} });
  expect(wrong).toEqual({
    withoutRun: 0,
    runsTooMany: 0,
    unfinished: 0,
    wrongLogs: 0,
    missed: 0,
    twice: 0,
    unsent: 0,
    faults: [],
  });
  expect(mails).toBe(2 * contacts);
  // A kill after the end would prove nothing.
  expect(hits.filter((sent) => sent > 0 && sent < mails).length).toBeGreaterThan(0);
});
