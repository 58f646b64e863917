import { describe, expect, test } from 'bun:test';
import type { EmailInput } from '../../machines/email/context.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { LIVE_SCHEDULE, mostDeferrals } from '../../src/sending/emails/accept/attempt-schedule.ts';
import { BEGINNINGS, BORN, timerOf } from '../support/engine-email-model.ts';
import { completed, Observed, outcome, sending } from '../support/observed-email.ts';

describe('attempts of the email machine', () => {
  test('an outcome counts for its own attempt only', () => {
    const email = sending();
    email.again(BORN + 10_000);
    expect(email.context.attempt).toBe(2);
    for (const other of [0, 1, 3]) {
      expect(
        email.tell(completed(BORN + 11_000, other, outcome(0, 'accepted'), outcome(1, 'accepted'))),
      ).toBeFalse();
    }
    expect(email.recorded).toEqual([]);
    expect(
      email.tell(completed(BORN + 11_000, 2, outcome(0, 'accepted'), outcome(1, 'accepted'))),
    ).toBeTrue();
    expect(email.state).toBe('sent');
  });

  test('waits grow as the schedule says, and the last one repeats', () => {
    const email = sending();
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      const at = email.context.at + 1_000;
      email.tell(completed(at, attempt, outcome(0, 'deferred'), outcome(1, 'deferred')));
      expect(email.state).toBe('deferred');
      waits.push((email.delays.backoff as number) - at);
      email.again(email.delays.backoff as number);
    }
    expect(waits).toEqual([60_000, 300_000, 300_000, 300_000]);
  });

  test('is made a last time when patience ends, and fails as expired then: no wait reaches beyond it', () => {
    const schedule = { ...LIVE_SCHEDULE, holdsDoubt: false };
    const email = sending({ ...BEGINNINGS['a live email to two'], ...schedule });
    const attempts: number[] = [];
    let at = BORN;
    for (let attempt = 1; ; attempt++) {
      attempts.push(at - BORN);
      email.tell(completed(at, attempt, outcome(0, 'deferred'), outcome(1, 'deferred')));
      if (email.state !== 'deferred') break;
      at = email.delays.backoff as number;
      email.again(at);
    }
    expect([email.state, email.context.failureReason]).toEqual(['failed', 'expired']);
    const minute = 60_000;
    expect(attempts.slice(-3)).toEqual([4_071 * minute, 4_311 * minute, 4_320 * minute]);
    expect(attempts).toHaveLength(1 + mostDeferrals(LIVE_SCHEDULE, 50));
    expect(email.recorded.map(({ at: told }) => told - BORN)).toEqual([4_320 * minute, 4_320 * minute]);
  });

  test('in doubt waits its ten minutes even where patience ends before', () => {
    const email = sending();
    const late = BORN + email.input.patienceMs - 1_000;
    email.tell(completed(late, 1, outcome(0, 'unknown'), outcome(1, 'deferred')));
    expect([email.state, email.delays.backoff]).toEqual(['deferred', late + 600_000]);
  });

  test('a reached recipient stays reached when retries run out for the others', () => {
    const email = sending();
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'accepted'), outcome(1, 'deferred')));
    email.again(email.delays.backoff as number);
    email.tell(completed(BORN + 4_000_000, 2, outcome(1, 'deferred')));
    expect(email.state).toBe('sent');
    expect(email.context.recipients.map(({ status, reason }) => [status, reason])).toEqual([
      ['sent', null],
      ['failed', 'expired'],
    ]);
    expect(email.recorded.map(({ type, recipient, data }) => [type, recipient, data.type])).toEqual([
      ['sent', 0, undefined],
      ['bounced', 1, 'Transient'],
    ]);
    expect(email.suppressed).toEqual([]);
  });

  test('a lease that ends after patience has run out fails the email as expired', () => {
    const email = sending();
    email.tell(timerOf('lease', BORN + 4_000_000));
    expect(email.state).toBe('failed');
    expect(email.context.failureReason).toBe('expired');
    const bounce = {
      type: 'Transient',
      subType: 'expired',
      smtpCode: null,
      enhancedCode: null,
      message: 'Retries ran out, and no reply showed whether a server had accepted the message.',
      remoteMta: null,
      inDoubt: true,
    };
    expect(email.recorded.map(({ type, data }) => [type, data])).toEqual([
      ['bounced', bounce],
      ['bounced', bounce],
    ]);
    expect(email.suppressed).toEqual([]);
  });
});

describe('an unknown outcome of the email machine', () => {
  test('is impossible for test mail: a lost attempt of the simulator reached no recipient', () => {
    const email = new Observed(BEGINNINGS['a test email']);
    email.wake(email.delays.lease as number);
    expect([email.state, email.context.recipients[0]?.inDoubt]).toEqual(['sending', false]);
    // So that after a crash its deferrals are not timed as those of mail that may have arrived.
    email.tell(completed(email.context.at, 2, outcome(0, 'deferred')));
    expect((email.delays.backoff as number) - email.context.at).toBe(300_000);
  });

  const report = (at: number, type: string, more: object = {}): ActorEvent =>
    ({ type: 'report.received', at, report: { type, recipient: 0, data: {}, ...more } }) as ActorEvent;
  const held: EmailInput = BEGINNINGS['a live email that is rather lost than doubled'];

  test('is waited for as long as a server may take, then tried again', () => {
    const email = sending({ ...held, holdsDoubt: false });
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
    expect(email.state).toBe('deferred');
    expect(email.recorded).toEqual([]);
    expect(email.delays.backoff).toBe(BORN + 1_000 + 600_000);
    email.again(email.delays.backoff as number);
    expect([email.state, email.context.attempt]).toEqual(['sending', 2]);
  });

  test('is never tried again where it is held, and fails as expired in the end', () => {
    const email = sending(held);
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
    expect(email.delays.backoff).toBe(BORN + held.patienceMs);
    email.again(email.delays.backoff as number);
    expect([email.state, email.context.failureReason, email.transmissions]).toEqual(['failed', 'expired', 1]);
    expect(email.suppressed).toEqual([]);
  });

  test('keeps the others on their schedule, and itself out of it', () => {
    const email = sending({ ...BEGINNINGS['a live email to two'], holdsDoubt: true });
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown'), outcome(1, 'deferred')));
    email.again(email.delays.backoff as number);
    email.tell(completed(BORN + 700_000, 2, outcome(1, 'accepted')));
    expect(email.state).toBe('deferred');
    expect(email.delays.backoff).toBe(BORN + 3_600_000);
  });

  test('a lost attempt is one, too', () => {
    const email = sending(held);
    email.wake(email.delays.lease as number);
    expect([email.state, email.transmissions]).toEqual(['deferred', 1]);
    const repeated = sending({ ...held, holdsDoubt: false });
    repeated.again(repeated.delays.lease as number);
    expect([repeated.state, repeated.transmissions]).toEqual(['sending', 2]);
  });

  test('is settled by a report, whatever it says', () => {
    for (const [type, more, state, events] of [
      ['delivered', {}, 'delivered', ['sent', 'delivered']],
      ['opened', {}, 'sent', ['sent', 'opened']],
      ['bounced', { permanent: true }, 'failed', ['bounced']],
      ['bounced', { permanent: false }, 'sent', ['sent', 'bounced']],
      ['bounced', { permanent: false, expired: true }, 'failed', ['bounced']],
    ] as const) {
      const email = sending(held);
      email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
      expect(email.tell(report(BORN + 2_000, type, more))).toBeTrue();
      expect(email.state).toBe(state);
      expect(email.recorded.map((event) => event.type as string)).toEqual([...events]);
      expect(email.delays).toEqual({});
    }
  });

  test('who merely waits cannot be reported on', () => {
    const email = sending(held);
    expect(email.tell(report(BORN + 1_000, 'opened'))).toBeFalse();
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'deferred')));
    expect(email.tell(report(BORN + 2_000, 'delivered'))).toBeFalse();
  });
});

describe('an attempt that could not be carried out', () => {
  test('is not counted, and the email asks again', () => {
    const email = sending();
    expect(email.tell({ type: 'attempt.declined', at: BORN + 1_000, attempt: 1 } as ActorEvent)).toBeTrue();
    expect([email.state, email.context.attempt]).toEqual(['queued', 0]);
    email.again(email.delays.turn as number);
    expect([email.state, email.context.attempt]).toEqual(['sending', 1]);
    expect(email.tell({ type: 'attempt.declined', at: BORN + 3_000, attempt: 2 } as ActorEvent)).toBeFalse();
  });
});

describe('a report while an email waits for a slot', () => {
  const report = (recipient: number, type: string, more: object = {}): ActorEvent =>
    ({
      type: 'report.received',
      at: BORN + 3_000_500,
      report: { type, recipient, data: {}, ...more },
    }) as ActorEvent;
  const queuedAgain = (...outcomes: Parameters<typeof completed>[2][]) => {
    const email = sending();
    email.tell(completed(BORN + 1_000, 1, ...outcomes));
    email.again(BORN + 3_000_000);
    email.tell({ type: 'attempt.declined', at: BORN + 3_000_000, attempt: 2 } as ActorEvent);
    expect(email.state).toBe('queued');
    return email;
  };

  test('is taken of a recipient who has the message, and the email keeps waiting as before', () => {
    for (const [type, more] of [
      ['complained', {}],
      ['bounced', { permanent: true }],
    ] as const) {
      const email = queuedAgain(outcome(0, 'accepted'), outcome(1, 'deferred'));
      const delays = { ...email.delays };
      expect(email.tell(report(1, type, more))).toBeFalse();
      expect(email.tell(report(0, type, more))).toBeTrue();
      expect([email.state, email.delays, email.suppressed]).toEqual(['queued', delays, [0]]);
      expect(email.recorded.map((event) => [event.type, event.recipient])).toEqual([
        ['sent', 0],
        [type, 0],
      ]);
      expect(email.tell(report(0, type, more))).toBeFalse();
      email.again(delays.turn as number);
      expect([email.state, email.context.attempt]).toEqual(['sending', 2]);
    }
  });

  test('can settle the last doubt, and with it the need to wait', () => {
    for (const [type, more, state] of [
      ['delivered', {}, 'sent'],
      ['bounced', { permanent: true }, 'sent'],
      ['opened', {}, 'sent'],
    ] as const) {
      const email = queuedAgain(outcome(0, 'accepted'), outcome(1, 'unknown'));
      expect(email.tell(report(1, type, more))).toBeTrue();
      expect([email.state, email.delays]).toEqual([state, {}]);
    }
    const failed = queuedAgain(outcome(0, 'refused'), outcome(1, 'unknown'));
    failed.tell(report(1, 'bounced', { permanent: true }));
    expect([failed.state, failed.delays]).toEqual(['failed', {}]);
  });
});

describe('a repeated report', () => {
  test('changes nothing about an email', () => {
    const email = sending();
    email.tell(completed(BORN + 1, 1, outcome(0, 'accepted'), outcome(1, 'accepted')));
    const tell = (type: string, more: object = {}): boolean =>
      email.tell({
        type: 'report.received',
        at: BORN + 2,
        report: { type, recipient: 0, data: {}, ...more },
      } as ActorEvent);
    for (const [type, more] of [
      ['bounced', { permanent: false }],
      ['delivered', {}],
      ['complained', {}],
      ['unsubscribed', { suppresses: true }],
      ['bounced', { permanent: true, suppresses: false }],
    ] as const)
      expect([tell(type, more), tell(type, more)]).toEqual([true, false]);
    expect(email.recorded.map(({ type }) => type)).toEqual([
      'sent',
      'sent',
      'bounced',
      'delivered',
      'complained',
      'unsubscribed',
      'bounced',
    ]);
    expect(email.suppressed).toEqual([0, 0]);
  });
});

describe('suppression of bad addresses', () => {
  test('are suppressed by live mail, never by test mail', () => {
    for (const livemode of [true, false]) {
      const email = sending({ ...BEGINNINGS['a live email to two'], livemode });
      email.tell(completed(BORN + 1, 1, outcome(0, 'refused'), outcome(1, 'accepted')));
      email.tell({
        type: 'report.received',
        at: BORN + 2,
        report: { type: 'complained', recipient: 1, data: {} },
      } as ActorEvent);
      expect(email.suppressed).toEqual(livemode ? [0, 1] : []);
    }
  });

  test('an attempt and a report name only the effects that have something to do', () => {
    const email = sending();
    const names = () => email.effects.map(({ type }) => type);
    email.tell(completed(BORN + 1, 1, outcome(0, 'deferred'), outcome(1, 'deferred')));
    expect(names()).toEqual(['note']);
    email.again(email.delays.backoff as number);
    const at = email.context.at;
    email.tell(completed(at + 1, 2, outcome(0, 'accepted'), outcome(1, 'refused')));
    expect(names()).toEqual(['record', 'suppress']);
    const tell = (type: string) =>
      email.tell({
        type: 'report.received',
        at: at + 2,
        report: { type, recipient: 0, data: {} },
      } as ActorEvent);
    tell('delivered');
    expect(names()).toEqual(['record']);
    tell('complained');
    expect(names()).toEqual(['record', 'suppress']);
  });

  test('a refused message says nothing of the address', () => {
    const email = sending();
    email.tell(completed(BORN + 1, 1, outcome(0, 'refused', 'rejected'), outcome(1, 'refused', 'rejected')));
    expect(email.state).toBe('failed');
    expect(email.context.failureReason).toBe('rejected');
    expect(email.suppressed).toEqual([]);
  });

  test('an email whose domain is gone fails, and nothing of it has bounced', () => {
    const email = sending();
    email.tell(completed(BORN + 1, 1, outcome(0, 'removed'), outcome(1, 'removed')));
    expect(email.state).toBe('failed');
    expect(email.context).toMatchObject({ failureReason: 'domain_removed', lastEvent: null });
    expect(email.suppressed).toEqual([]);
    expect(email.recorded).toEqual([]);
  });

  test('a full mailbox bounces for good and empties again', () => {
    const email = sending();
    email.tell(
      completed(BORN + 1, 1, { ...outcome(0, 'refused'), suppresses: false }, outcome(1, 'refused')),
    );
    expect(email.context.failureReason).toBe('bounced');
    expect(email.suppressed).toEqual([1]);
  });
});
