import { expect, test } from 'bun:test';
import { killCampaign } from './campaign-kill.ts';

// The long form: bun tests/failure/campaign-kill-long.ts

/** More people are written to in the next round if all had theirs before a kill. */
const RECIPIENTS = [1_500, 6_000, 24_000];

test('a campaign on two instances that are killed with -9 and paused reaches everybody once', async () => {
  let isHit = false;
  for (const recipients of RECIPIENTS) {
    const report = await killCampaign({
      recipients,
      instances: 2,
      kills: 2,
      pauses: 1,
      stops: 0,
      sink: false,
      say: () => {},
    });
    expect(report).toMatchObject({ status: 'sent', missed: 0, twice: 0, copies: 0, unbalanced: 0 });
    expect(report.stats).toMatchObject({
      total: recipients,
      sent: recipients,
      remaining: 0,
      skipped: 0,
      failed: 0,
    });
    // A kill after the end would prove nothing.
    isHit = report.hits.some((given) => given > 0 && given < recipients);
    if (isHit) break;
  }
  expect(isHit).toBe(true);
});
