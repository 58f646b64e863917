import { describe, expect, test } from 'bun:test';
import { dateOf, LATE_MS } from '../../machines/email/rules.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { BEGINNINGS, BORN } from '../support/engine-email-model.ts';
import { completed, Observed, outcome } from '../support/observed-email.ts';

const live = { ...BEGINNINGS['a live email to two'], recipients: [{ simulate: null }] };
const DAY = 86_400_000;

const begin = (email: Observed, at: number, readyAt: number | null = at): boolean =>
  email.tell({
    type: 'attempt.begun',
    at,
    attempt: email.context.attempt + 1,
    ...(readyAt !== null && { readyAt }),
  } as ActorEvent);
/** The date of copies that are made ready then. */
const dated = (email: Observed, now: number): number => dateOf(email.context, now);

describe('the date of an email', () => {
  test('is the moment of its first attempt, and the same in each that follows', () => {
    const email = new Observed(live);
    const first = BORN + 20 * DAY;
    expect(dated(email, first)).toBe(first);
    // A session was found a while after the copies were ready.
    begin(email, first + 45_000, first);
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(dated(email, first + attempt * 3_600_000)).toBe(first);
      email.tell(completed(email.context.at + 1, attempt, outcome(0, 'deferred')));
      begin(email, email.context.at + 60_000);
    }
    email.wake(email.delays.lease as number);
    expect(dated(email, email.context.at)).toBe(first);
  });

  test('of a scheduled one is the time that was asked for, also once it was moved, and never one to come', () => {
    for (const movedBy of [0, 3 * DAY]) {
      const asked = BORN + 10 * DAY;
      const email = new Observed({ ...live, scheduledAt: asked });
      const scheduledAt = asked + movedBy;
      if (movedBy > 0) email.tell({ type: 'reschedule.requested', at: BORN + 1, scheduledAt } as ActorEvent);
      email.wake(scheduledAt);
      for (const [late, date] of [
        [0, scheduledAt],
        [LATE_MS, scheduledAt],
        [LATE_MS + 1, scheduledAt + LATE_MS + 1],
        // The clock of another instance is behind.
        [-1, scheduledAt - 1],
      ] as const)
        expect(dated(email, scheduledAt + late)).toBe(date);
      begin(email, scheduledAt + 2_000, scheduledAt + 1_000);
      expect(dated(email, scheduledAt + DAY)).toBe(scheduledAt);
    }
  });

  test('of one that a limit has held is the moment at which it begins to leave', () => {
    const scheduledAt = BORN + DAY;
    const email = new Observed({ ...live, scheduledAt });
    email.wake(scheduledAt);
    const because = { until: scheduledAt + 2 * DAY, transport: 'smtp', perDay: 50 };
    const put = { type: 'attempt.postponed', at: scheduledAt + 10, attempt: 1, because };
    expect(email.tell(put as ActorEvent)).toBeTrue();
    email.wake(because.until);
    begin(email, because.until + 5, because.until + 3);
    expect(dated(email, because.until + DAY)).toBe(because.until + 3);
  });

  test('counts no attempt that had nothing to send, and none that was not carried out', () => {
    const email = new Observed(live);
    // Its domain is not verified: beginning and end are one write, and no copy was made.
    begin(email, BORN + 1_000, null);
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'deferred')));
    const later = BORN + 3_000_000;
    expect(dated(email, later)).toBe(later);
    expect(email.context.firstAttemptAt).toBe(BORN + 1_000);
    email.wake(email.delays.backoff as number);
    begin(email, later + 5, later);
    expect(dated(email, later + 60_000)).toBe(later);

    const declined = new Observed(live);
    begin(declined, BORN + 1_000);
    declined.tell({ type: 'attempt.declined', at: BORN + 2_000, attempt: 1 } as ActorEvent);
    expect(dated(declined, later)).toBe(later);
  });
});
