import { describe, expect, test } from 'bun:test';
import { type RecipientOutcome, WITHHELD_REASONS } from '../../machines/email/recipient.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { explainEmail } from '../../src/sending/emails/explain/explanation-text.ts';
import { BEGINNINGS, BORN, timerOf } from '../support/engine-email-model.ts';
import { completed, type Observed, outcome, sending } from '../support/observed-email.ts';

// Every way into a doubt, with every way out of it: a message that may have arrived is never told as one that
// did not.

const PATIENCE_IS_OVER = BORN + 4_000_000;
const one = { ...BEGINNINGS['a live email to two'], recipients: [{ simulate: null }] };

/** The ways by which the outcome of the first attempt is unknown. */
const DOUBTS: Readonly<Record<string, (email: Observed) => void>> = {
  'a lost lease': (email) => email.wake(email.delays.lease as number),
  'an unknown outcome': (email) => {
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
    email.wake(email.delays.backoff as number);
  },
};

const ending =
  (what: RecipientOutcome): ((email: Observed) => void) =>
  (email) => {
    email.begin(BORN + 900_000);
    expect(email.tell(completed(BORN + 900_001, 2, what))).toBeTrue();
  };

/** The ways to an end that follow a doubt. */
const ENDS: Readonly<Record<string, (email: Observed) => void>> = {
  ...Object.fromEntries(
    WITHHELD_REASONS.map((reason) => [
      `withheld as ${reason}`,
      ending({ ...outcome(0, 'suppressed'), data: { reason } }),
    ]),
  ),
  'its domain is removed': ending(outcome(0, 'removed')),
  'its content is not kept any more': ending(outcome(0, 'refused', 'rejected')),
  'a later attempt is refused': ending(outcome(0, 'refused')),
  'patience ends after a deferral': (email) => {
    email.begin(PATIENCE_IS_OVER);
    email.tell(completed(PATIENCE_IS_OVER + 1, 2, outcome(0, 'deferred')));
  },
  'patience ends with a lost attempt': (email) => {
    email.begin(BORN + 900_000);
    email.tell(timerOf('lease', PATIENCE_IS_OVER));
  },
};

const noteOf = (email: Observed): object | undefined => {
  const params = email.effects.find(({ type }) => type === 'note')?.params as
    | { readonly outcomes: readonly RecipientOutcome[] }
    | undefined;
  return params?.outcomes[0]?.data;
};
const summaryOf = (email: Observed): string =>
  explainEmail({ state: email.state, context: email.context, timers: {}, steps: [] }).summary;

describe('an email that may have arrived', () => {
  for (const [doubt, doubting] of Object.entries(DOUBTS))
    for (const [end, ends] of Object.entries(ENDS))
      test(`by ${doubt} ends in doubt where ${end}`, () => {
        const email = sending(one);
        doubting(email);
        ends(email);
        expect(email.state).toBe('failed');
        expect(email.context.recipients[0]).toMatchObject({ status: 'failed', inDoubt: true });
        expect(summaryOf(email)).toStartWith('It may have arrived at one recipient');
        const data = email.recorded.at(-1)?.data ?? noteOf(email);
        expect(data).toMatchObject({ inDoubt: true });
      });

  for (const [end, ends] of Object.entries(ENDS).filter(
    ([name]) => name !== 'patience ends with a lost attempt',
  ))
    test(`not, since its first attempt was put off, ends without a doubt where ${end}`, () => {
      const email = sending(one);
      email.tell(completed(BORN + 1_000, 1, outcome(0, 'deferred')));
      email.wake(email.delays.backoff as number);
      ends(email);
      expect([email.state, email.context.recipients[0]?.inDoubt]).toEqual(['failed', false]);
      expect(summaryOf(email)).toStartWith('No recipient got it');
      expect(email.recorded.at(-1)?.data ?? noteOf(email) ?? {}).not.toHaveProperty('inDoubt');
    });

  test('is not taken back by a campaign that ends: only the attempt that was begun has the say', () => {
    for (const doubting of Object.values(DOUBTS)) {
      const email = sending(one);
      doubting(email);
      expect(email.tell({ type: 'campaign.ended', at: BORN + 800_000 } as ActorEvent)).toBeFalse();
      expect(email.refunds).toBe(0);
    }
  });

  test('is known to have arrived, or not, by what is heard of that very attempt', () => {
    for (const [what, status] of [
      ['accepted', 'sent'],
      ['refused', 'failed'],
      ['deferred', 'pending'],
    ] as const) {
      const email = sending(one);
      email.wake(email.delays.lease as number);
      email.tell(completed(BORN + 900_000, 1, outcome(0, what)));
      expect(email.context.recipients[0]).toMatchObject({ status, inDoubt: false });
    }
  });
});
