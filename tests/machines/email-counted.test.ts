import { expect, test } from 'bun:test';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { BEGINNINGS, BORN } from '../support/engine-email-model.ts';
import { completed, Observed, outcome } from '../support/observed-email.ts';

// The part of a warm-up's day that the recipients of an email have.

const begun = (attempt: number, counted?: string): ActorEvent =>
  ({
    type: 'attempt.begun',
    at: BORN + attempt,
    attempt,
    by: 'me',
    ...(counted !== undefined && { counted }),
  }) as ActorEvent;
const putOff = (attempt: number, more: object = {}): ActorEvent =>
  ({
    ...completed(BORN + attempt, attempt, outcome(0, 'deferred'), outcome(1, 'deferred')),
    ...more,
  }) as ActorEvent;
const start = (): Observed => new Observed(BEGINNINGS['a live email to two']);
/** Comes again after it was put off. */
const comeAgain = (email: Observed): number => email.wake(email.delays.backoff as number);

test('an attempt that opened nothing counts nothing; the first that opens a session counts for all later ones', () => {
  const email = start();
  email.tell(begun(1));
  email.tell(putOff(1));
  expect(email.context.counted).toBeUndefined();
  comeAgain(email);
  email.tell(begun(2, 'smtp'));
  expect(email.context.counted).toEqual({ attempt: 2, transport: 'smtp' });
  email.tell(putOff(2));
  comeAgain(email);
  email.tell(begun(3));
  email.tell(putOff(3, { uncounted: true }));
  expect(email.context.counted).toEqual({ attempt: 2, transport: 'smtp' });
});

test('days that it waits for room are no part of its patience, which an attempt that opened nothing began', () => {
  const email = start();
  email.tell(begun(1));
  email.tell(putOff(1));
  expect(email.context.firstAttemptAt).toBe(BORN + 1);
  const at = comeAgain(email);
  const until = BORN + 10 * 86_400_000;
  const because = { until, transport: 'smtp', perDay: 50 };
  email.tell({ type: 'attempt.postponed', at, attempt: 2, because } as ActorEvent);
  expect([email.state, email.context.firstAttemptAt]).toEqual(['queued', null]);
  email.wake(until);
  email.tell({ ...begun(2, 'smtp'), at: until } as ActorEvent);
  email.tell({ ...putOff(2), at: until + 1 } as ActorEvent);
  expect([email.state, email.context.firstAttemptAt]).toEqual(['deferred', until]);
});

test('what another transport has taken, or was not carried out, is not counted', () => {
  const email = start();
  email.tell(begun(1, 'smtp'));
  email.tell(putOff(1, { uncounted: true }));
  expect(email.context.counted).toBeNull();
  const declined = start();
  declined.tell(begun(1, 'smtp'));
  declined.tell({ type: 'attempt.declined', at: BORN + 2, attempt: 1, by: 'me' } as ActorEvent);
  expect([declined.state, declined.context.counted]).toEqual(['queued', null]);
});

test('an attempt that was lost stays counted: its session may have been open', () => {
  const email = start();
  email.tell(begun(1, 'smtp'));
  email.wake(email.delays.lease as number);
  expect([email.state, email.context.counted]).toEqual(['queued', { attempt: 1, transport: 'smtp' }]);
});
