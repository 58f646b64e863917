import { newEmail } from './email-rules.ts';
import {
  absorbReport,
  beginAttempt,
  doubt,
  emailSetup,
  giveUp,
  noteTime,
  refundUnit,
  reschedule,
  settleAttempt,
  takeBackAttempt,
} from './email-setup.ts';
import { storedStates } from './names.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const EMAIL_VERSION = 1;

const settled = [
  { guard: 'reportFailsEveryRecipient', target: 'failed', actions: absorbReport },
  { guard: 'reportCompletesDelivery', target: 'delivered', actions: absorbReport },
  { guard: 'reportLeavesOutcomesMixed', target: 'sent', actions: absorbReport },
] as const;
const reportsAfterwards = { 'report.received': settled } as const;
/** A report can also end a doubt, and with it the need to try again. */
const reportsWhileRetrying = {
  'report.received': [{ guard: 'reportLeavesRetries', actions: absorbReport }, ...settled],
} as const;

/** The life of one email, from acceptance to its last outcome. The API's `status` is the state. */
export const emailMachine = emailSetup.createMachine({
  id: 'email',
  context: ({ input }) => newEmail(input),
  initial: 'accepted',
  states: {
    accepted: {
      description: 'Passed through at once; no email is ever stored in it.',
      always: [
        { guard: 'isScheduledAhead', target: 'scheduled' },
        { guard: 'mustQueue', target: 'queued' },
        { target: 'sending' },
      ],
    },
    scheduled: {
      description: 'Waits for the time the client asked for; can be moved or cancelled.',
      on: {
        'cancel.requested': { target: 'cancelled', actions: [refundUnit, noteTime] },
        'reschedule.requested': { target: 'scheduled', reenter: true, actions: reschedule },
      },
      after: { due: 'sending' },
    },
    queued: {
      description: 'Every slot of the transport was taken, for the first attempt or for a later one.',
      on: reportsWhileRetrying,
      after: { turn: 'sending' },
    },
    sending: {
      description:
        'An attempt runs. Without an outcome before the lease ends it counts as lost, and whom it was for is in doubt.',
      entry: [beginAttempt, { type: 'transmit', params: ({ context }) => ({ attempt: context.attempt }) }],
      on: {
        'attempt.completed': [
          { guard: 'someRecipientsWait', target: 'deferred', actions: settleAttempt },
          { guard: 'everyRecipientFailed', target: 'failed', actions: settleAttempt },
          { guard: 'outcomesAreKnown', target: 'sent', actions: settleAttempt },
        ],
        'attempt.declined': { guard: 'isAttemptUnderWay', target: 'queued', actions: takeBackAttempt },
        ...reportsWhileRetrying,
      },
      after: {
        lease: [
          { guard: 'lostAttemptIsRepeated', target: 'sending', reenter: true, actions: doubt },
          { guard: 'lostAttemptIsHeld', target: 'deferred', actions: doubt },
          { target: 'gaveUp', actions: giveUp },
        ],
      },
    },
    deferred: {
      description:
        'A temporary failure, or nobody knows whether the message was taken; the next attempt is timed.',
      on: reportsWhileRetrying,
      after: {
        backoff: [
          { guard: 'someMayBeTried', target: 'sending' },
          { target: 'gaveUp', actions: giveUp },
        ],
      },
    },
    gaveUp: {
      description:
        'Passed through at once: retries ran out, and some recipients may have got the message before.',
      always: [{ guard: 'nobodyWasReached', target: 'failed' }, { target: 'sent' }],
    },
    sent: {
      description:
        'Accepted by the receiving server for some or all; some outcome is open, or outcomes differ.',
      on: reportsAfterwards,
    },
    delivered: {
      description: 'Delivered to every recipient. Opens, clicks and complaints may still be recorded.',
      on: reportsAfterwards,
    },
    failed: { type: 'final', description: 'No recipient got it; failureReason says why.' },
    cancelled: { type: 'final', description: 'Cancelled by the client before it was sent.' },
  },
});

/** The states that an email is stored in. */
export const EMAIL_STATES = storedStates(emailMachine, ['accepted', 'gaveUp']);
/** One of them. */
export type EmailState = (typeof EMAIL_STATES)[number];
