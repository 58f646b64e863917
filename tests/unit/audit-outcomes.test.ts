import { expect, test } from 'bun:test';
import { outcomeFaults } from '../../src/sending/emails/audit/audit-recipients.ts';
import { BORN, timerOf } from '../support/engine-email-model.ts';
import { completed, outcome, sending } from '../support/observed-email.ts';

/** An email to two, of whom one has it; the second attempt found no slot. */
function queuedAgain() {
  const email = sending();
  email.tell(completed(BORN + 1_000, 1, outcome(0, 'accepted'), outcome(1, 'deferred')));
  email.tell(timerOf('backoff', BORN + 61_000));
  email.tell({ type: 'attempt.declined', at: BORN + 62_000, attempt: 2 } as never);
  return email;
}

test('the audit accepts an email waiting for a slot again, with recipients already served', () => {
  const { state, context } = queuedAgain();
  expect([state, context.attempt]).toEqual(['queued', 1]);
  expect(outcomeFaults(state, context)).toEqual([]);
});

test('the audit reports an email that waits for a slot without an open recipient, or with one reached before its first attempt', () => {
  const { context } = queuedAgain();
  expect(outcomeFaults('queued', { ...context, attempt: 0 })).toEqual([
    'is queued, but some recipient is past that',
  ]);
  expect(outcomeFaults('queued', { ...context, recipients: context.recipients.slice(0, 1) })).toEqual([
    'is queued, but no recipient waits for an attempt',
  ]);
});
