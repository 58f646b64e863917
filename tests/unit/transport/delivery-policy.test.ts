import { expect, test } from 'bun:test';
import guide from '../../../src/web/docs/texts/receive-mail.md' with { type: 'text' };

// SNS refuses a policy beyond these bounds, and discards mail after a minute without one.

test('the guide has a delivery policy for the longest time that SNS allows', () => {
  const [, written = ''] = /'(\{"healthyRetryPolicy":.*\})'/.exec(guide) ?? [];
  const { healthyRetryPolicy: policy } = JSON.parse(written);
  expect(policy.maxDelayTarget).toBe(policy.minDelayTarget);
  expect(policy.numRetries).toBeLessThanOrEqual(100);
  const seconds = policy.numRetries * policy.minDelayTarget;
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(seconds).toBeGreaterThan(3_500);
  expect(guide).toContain('"deadLetterTargetArn"');
});
