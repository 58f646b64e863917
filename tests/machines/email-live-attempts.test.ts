import { describe, expect, test } from 'bun:test';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { BEGINNINGS, BORN, timerOf } from '../support/engine-email-model.ts';
import { completed, Observed, outcome, sending } from '../support/observed-email.ts';

describe('an attempt of live mail', () => {
  const begun = (attempt: number, by: string): ActorEvent =>
    ({ type: 'attempt.begun', at: BORN + 1_000, attempt, by }) as ActorEvent;
  const ended = (by: string): ActorEvent =>
    ({ ...completed(BORN + 2_000, 1, outcome(0, 'accepted'), outcome(1, 'accepted')), by }) as ActorEvent;

  test('is offered until an instance begins it, and leaves no recipient in doubt before', () => {
    const email = new Observed(BEGINNINGS['a live email to two']);
    for (let turn = 1; turn <= 3; turn++) {
      expect([email.state, email.context.attempt, email.offers, email.transmissions]).toEqual([
        'queued',
        0,
        turn,
        0,
      ]);
      expect(email.context.recipients.some(({ inDoubt }) => inDoubt)).toBeFalse();
      email.wake(email.delays.turn as number);
    }
    expect(email.context.firstAttemptAt).toBeNull();
  });

  test('is begun by the first one alone, and only once', () => {
    const email = new Observed(BEGINNINGS['a live email to two']);
    expect(email.tell(begun(2, 'hasty'))).toBeFalse();
    expect(email.tell(begun(1, 'first'))).toBeTrue();
    expect(email.tell(begun(1, 'second'))).toBeFalse();
    expect(email.tell(begun(2, 'second'))).toBeFalse();
    expect(email.tell(ended('second'))).toBeFalse();
    expect([email.state, email.context.begunBy]).toEqual(['sending', 'first']);
    expect(email.tell(ended('first'))).toBeTrue();
    expect(email.state).toBe('sent');
  });

  test('that a limit leaves no room for waits for it, is offered then, and counts only once it has begun', () => {
    const email = new Observed(BEGINNINGS['a live email to two']);
    const until = BORN + 3_600_000;
    const put = { type: 'attempt.postponed', at: BORN + 500 };
    const because = { until, transport: 'smtp', perDay: 50 };
    expect(email.tell({ ...put, attempt: 2, because } as ActorEvent)).toBeFalse();
    expect(email.tell({ ...put, attempt: 1, because } as ActorEvent)).toBeTrue();
    expect([email.state, email.delays.turn, email.context.attempt]).toEqual(['queued', until, 0]);
    expect(email.context.firstAttemptAt).toBeNull();
    email.wake(until);
    expect([email.state, email.offers]).toEqual(['queued', 2]);
    // The limit may be gone before that: a later attempt does not wait for it.
    const early = new Observed(BEGINNINGS['a live email to two']);
    early.tell({ ...put, attempt: 1, because } as ActorEvent);
    expect(early.tell(begun(1, 'first'))).toBeTrue();
    expect(early.context.postponed).toEqual({ ...because, until: BORN + 1_000 });
    early.wake(early.delays.lease as number);
    expect(early.delays.turn).toBe((early.context.at as number) + 1_000);
  });

  test('is made of nothing whose campaign ended before one had begun: the unit goes back, and everybody is noted', () => {
    const email = new Observed(BEGINNINGS['a live email to two']);
    const over = { type: 'campaign.ended', at: BORN + 2_000 } as ActorEvent;
    // An attempt whose beginning was taken back has sent nothing.
    email.tell(begun(1, 'uncertain'));
    email.tell({ type: 'attempt.declined', at: BORN + 1_500, attempt: 1, by: 'uncertain' } as ActorEvent);
    expect(email.tell(over)).toBeTrue();
    expect([email.state, email.refunds, email.context.at]).toEqual(['cancelled', 1, BORN + 2_000]);
    const noted = { outcome: 'suppressed', data: { reason: 'cancelled' } };
    expect(email.effects).toEqual([
      { type: 'refund', params: { acceptedAt: BORN } },
      {
        type: 'note',
        params: { attempt: 0, outcomes: [0, 1].map((recipient) => ({ recipient, ...noted })) },
      },
    ]);
    for (const late of [over, begun(1, 'late'), ended('uncertain')]) expect(email.tell(late)).toBeFalse();
    expect(email.delays).toEqual({});
  });

  test('goes on where its campaign ended after one had begun', () => {
    const over = (at: number): ActorEvent => ({ type: 'campaign.ended', at }) as ActorEvent;
    const email = sending();
    expect(email.tell(over(BORN + 1_000))).toBeFalse();
    email.tell(completed(BORN + 2_000, 1, outcome(0, 'deferred'), outcome(1, 'deferred')));
    expect(email.tell(over(BORN + 3_000))).toBeFalse();
    email.wake(email.delays.backoff as number);
    expect([email.state, email.tell(over(email.context.at + 1))]).toEqual(['queued', false]);
    const lost = sending();
    lost.wake(lost.delays.lease as number);
    expect([lost.state, lost.tell(over(lost.context.at + 1)), lost.refunds]).toEqual(['queued', false, 0]);
  });

  test('that was lost is in doubt, and an outcome that was not its own is refused though it has its number', () => {
    const email = new Observed(BEGINNINGS['a live email to two']);
    email.tell(begun(1, 'uncertain'));
    email.tell({ type: 'attempt.declined', at: BORN + 1_500, attempt: 1, by: 'uncertain' } as ActorEvent);
    expect([email.state, email.context.attempt, email.context.begunBy]).toEqual(['queued', 0, null]);
    email.tell(begun(1, 'next'));
    for (const type of ['attempt.declined', 'attempt.completed'])
      expect(email.tell({ ...ended('uncertain'), type } as ActorEvent)).toBeFalse();
    email.wake(email.delays.lease as number);
    expect(email.state).toBe('queued');
    expect(email.context.recipients.map(({ inDoubt }) => inDoubt)).toEqual([true, true]);
    expect(email.tell(ended('uncertain'))).toBeFalse();
    expect(email.tell(begun(1, 'asleep since the first one'))).toBeFalse();
    expect(email.tell(begun(2, 'last'))).toBeTrue();
    // From here on two attempts may have reached them, and only the later one has the say.
    expect(email.tell(ended('next'))).toBeFalse();
  });

  test('that outlived its lease ends the doubt with its late outcome, once, while no other has begun', () => {
    for (const holdsDoubt of [false, true]) {
      const email = sending({ ...BEGINNINGS['a live email to two'], holdsDoubt });
      email.wake(email.delays.lease as number);
      expect(email.state).toBe(holdsDoubt ? 'deferred' : 'queued');
      expect(email.context.recipients.map(({ inDoubt }) => inDoubt)).toEqual([true, true]);
      const late = completed(BORN + 900_000, 1, outcome(0, 'accepted'), outcome(1, 'refused'));
      expect(email.tell(late)).toBeTrue();
      expect(email.state).toBe('sent');
      expect(email.context.recipients.map(({ status, inDoubt }) => [status, inDoubt])).toEqual([
        ['sent', false],
        ['failed', false],
      ]);
      expect(email.tell(late)).toBeFalse();
      expect(email.tell(begun(2, 'too late'))).toBeFalse();
    }
  });

  test('that outlived its lease and reached no recipient is made again without a doubt: its own outcome is the answer', () => {
    for (const holdsDoubt of [false, true]) {
      const email = sending({ ...BEGINNINGS['a live email to two'], holdsDoubt });
      email.wake(email.delays.lease as number);
      const at = BORN + 900_000;
      const late = completed(at, 1, outcome(0, 'deferred'), outcome(1, 'accepted'));
      expect(email.tell(late)).toBeTrue();
      expect(email.state).toBe('deferred');
      expect(email.context.recipients[0]?.inDoubt).toBeFalse();
      expect(email.delays.backoff).toBe(at + 60_000);
      expect(email.tell(late)).toBeFalse();
    }
  });

  test('that reached no recipient leaves the doubt of an earlier one, and waits the ten minutes of RFC 5321 for a report of that', () => {
    const email = sending();
    email.wake(email.delays.lease as number);
    const at = BORN + 900_000;
    email.begin(at);
    email.tell(completed(at, 2, outcome(0, 'deferred'), outcome(1, 'accepted')));
    expect(email.context.recipients.map(({ inDoubt }) => inDoubt)).toEqual([true, false]);
    expect(email.delays.backoff).toBe(at + 600_000);
  });

  test('that outlived its lease with its outcome still unknown stays in doubt', () => {
    const email = sending({ ...BEGINNINGS['a live email to two'], holdsDoubt: true });
    email.wake(email.delays.lease as number);
    email.tell(completed(BORN + 900_000, 1, outcome(0, 'unknown'), outcome(1, 'unknown')));
    expect([email.state, email.context.recipients.map(({ inDoubt }) => inDoubt)]).toEqual([
      'deferred',
      [true, true],
    ]);
    expect(email.delays.backoff).toBe(email.input.at + email.input.patienceMs);
  });

  test('that was the last one and was lost may have arrived, and says so for ever', () => {
    const email = sending();
    email.tell(timerOf('lease', BORN + 4_000_000));
    expect(email.context.recipients.map(({ reason, inDoubt }) => [reason, inDoubt])).toEqual([
      ['expired', true],
      ['expired', true],
    ]);
    const put = sending();
    put.tell(completed(BORN + 4_000_000, 1, outcome(0, 'deferred'), outcome(1, 'unknown')));
    expect(put.context.recipients.map(({ reason, inDoubt }) => [reason, inDoubt])).toEqual([
      ['expired', false],
      ['expired', true],
    ]);
  });
});
