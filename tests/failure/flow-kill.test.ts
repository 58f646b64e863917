import { expect, test } from 'bun:test';
import { killRuns } from './flow-kill.ts';

// The long form: bun tests/failure/flow-kill-long.ts

/** More mails are sent in the next round if all had left before a kill. */
const ROWS = [200, 800, 3_200];

test('runs on two instances that are killed with -9 are one a contact, and send each mail once', async () => {
  const plan = { instances: 2, kills: 2, restMs: 2_000, leaseMs: 1_500, everyMs: 20 };
  let isHit = false;
  for (const rows of ROWS) {
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
    isHit = hits.some((sent) => sent > 0 && sent < mails);
    if (isHit) break;
  }
  expect(isHit).toBe(true);
});
