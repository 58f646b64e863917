import { describe, expect, test } from 'bun:test';
import { emailMachine } from '../../machines/email/machine.ts';
import type { RecipientProgress, WithheldReason } from '../../machines/email/recipient.ts';
import { transientStates } from '../../src/engine/drawing/arrows.ts';
import { draw } from '../../src/engine/drawing/moves.ts';
import { explainEmail } from '../../src/sending/emails/explain/explanation-text.ts';

const drawing = draw(emailMachine);
const context = {
  at: 0,
  livemode: true,
  acceptedAt: 0,
  scheduledAt: null,
  admitted: true,
  attempt: 2,
  leaseMs: 10_000,
  patienceMs: 259_200_000,
  firstAttemptAt: 0,
  backoffMs: [1_000],
  recipients: [{ status: 'pending', lastEvent: null, reason: null, simulate: null }],
  failureReason: 'expired',
  lastEvent: null,
  sentAt: null,
  deliveredAt: null,
};
const told = (state: string, event = 'spawned', more: object = {}) =>
  explainEmail({
    state,
    context: { ...context, ...more },
    timers: { 'xstate.after.backoff.email.deferred': 5_000 },
    steps: [{ revision: 1, event, from: null, to: state, at: 1, attempt: 2, effects: [] }],
  } as never);

const ACTS: Readonly<Record<WithheldReason, string>> = {
  forgotten: 'the contact was deleted',
  complained: 'the recipient has reported an email as spam',
  bounced: 'an earlier email to the address bounced permanently',
  unsubscribed: 'the recipient has unsubscribed',
  suppressed: 'the address was suppressed manually',
  removed: 'the contact was removed from the audience',
  invalid: 'the address of the contact had changed',
  excluded: 'the contact was in an audience that the campaign leaves out',
  cancelled: 'its campaign had been cancelled',
};

describe('explaining an email', () => {
  test('in every state that is stored, differently', () => {
    const stored = drawing.states
      .map(({ name }) => name)
      .filter((name) => !transientStates(drawing).includes(name));
    const summaries = stored.map((state) => told(state).summary);
    expect(new Set(summaries).size).toBe(stored.length);
    expect(summaries.join()).not.toContain('does not know');
  });

  test('event by event, for everything that the machine takes', () => {
    const causes = new Set(
      drawing.moves.flatMap(({ cause }) => (cause === null ? [] : [cause.replace(' ', '.')])),
    );
    for (const cause of causes)
      expect(told('sending', cause).evidence[0]?.text).not.toContain(`${cause} led to`);
  });

  describe('at its end, without a word more than is known of each recipient', () => {
    const failed = (reason: string, inDoubt = false) => ({ status: 'failed', reason, inDoubt });
    const reached = (status: string) => ({ status, reason: null, inDoubt: false });
    const summary = (state: string, failureReason: string | null, ...recipients: object[]): string =>
      told(state, 'spawned', { failureReason, recipients: recipients as readonly RecipientProgress[] })
        .summary;
    const doubt = 'an attempt ended without a reply, and none came until patience ran out.';

    for (const [reason, words] of [
      ['bounced', 'the receiving server refused the address for good'],
      ['suppressed', 'the address was suppressed'],
      ['expired', 'temporary failures lasted until patience ran out'],
      [
        'rejected',
        'the receiving server refused the message or its sender, and said nothing against the address',
      ],
      ['domain_removed', 'the sending domain was removed'],
    ] as const)
      test(`failed as ${reason}`, () =>
        expect(summary('failed', reason, failed(reason))).toBe(`No recipient got it: ${words}.`));

    test('given up in doubt', () =>
      expect(summary('failed', 'expired', failed('expired', true))).toBe(
        `It may have arrived at one recipient: ${doubt}`,
      ));

    test('given up in doubt of all', () =>
      expect(summary('failed', 'expired', failed('expired', true), failed('expired', true))).toBe(
        `It may have arrived at 2 recipients: ${doubt}`,
      ));

    for (const [reason, words] of [
      ['bounced', 'the receiving server refused the address for good'],
      ['expired', 'temporary failures lasted until patience ran out'],
      ['suppressed', 'the address was suppressed'],
    ] as const)
      test(`given up in doubt of one, while another failed as ${reason}`, () =>
        expect(
          summary(
            'failed',
            reason === 'bounced' ? reason : 'expired',
            failed('expired', true),
            failed(reason),
          ),
        ).toBe(`It may have arrived at one recipient: ${doubt} No other recipient got it: ${words}.`));

    for (const [withheld, words] of Object.entries(ACTS))
      test(`withheld as ${withheld}, by the act that decided, also where it may have arrived before`, () => {
        const one = (inDoubt: boolean) => ({ ...failed('suppressed', inDoubt), withheld });
        expect(summary('failed', 'suppressed', one(false))).toBe(`No recipient got it: ${words}.`);
        expect(summary('failed', 'suppressed', one(true))).toBe(
          `It may have arrived at one recipient: an attempt ended without a reply, and it was not sent again: ${words}.`,
        );
      });

    test('each of several otherwise', () =>
      expect(
        summary(
          'sent',
          null,
          reached('delivered'),
          reached('sent'),
          failed('bounced'),
          failed('expired', true),
        ),
      ).toBe(
        'The receiving server has taken it: 1 delivered, 1 awaiting a report, 1 failed, 1 given up without knowing whether it arrived.',
      ));
  });

  test('while it waits to be tried again, as one that may have arrived where it may', () => {
    const pending = (inDoubt: boolean) => ({ recipients: [{ status: 'pending', inDoubt }] });
    expect(told('queued', 'spawned', pending(true)).rule).toContain('may have arrived at one recipient');
    expect(told('queued', 'spawned', pending(false)).rule).toContain('Nothing of the attempt has left');
  });

  test('with what comes next and when', () => {
    expect(told('deferred').next).toMatchObject({ at: 5_000 });
    expect(told('failed').summary).toContain('patience');
  });
});
