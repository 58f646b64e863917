import { storedStates } from '../names.ts';
import { newEmail } from './rules.ts';
import {
  absorbReport,
  absorbScript,
  beginAttempt,
  doubt,
  emailSetup,
  giveUp,
  noteReturned,
  noteTime,
  offer,
  postpone,
  refundUnit,
  reschedule,
  settleAttempt,
  simulate,
  takeBackAttempt,
  withdraw,
} from './setup.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const EMAIL_VERSION = 1;

/**
 * The outcome of an attempt. It also counts after the lease, as long as no other attempt has begun: a process
 * that was suspended finds the server's reply in its socket when it wakes. No other attempt has sent anything
 * meanwhile, so a recipient that the outcome names is no longer in doubt: neither for ever, where doubts are
 * held, nor until a second copy has left, where they are tried again.
 */
const outcomes = [
  { guard: 'someRecipientsWait', target: 'deferred', reenter: true, actions: settleAttempt },
  { guard: 'everyRecipientFailed', target: 'failed', actions: settleAttempt },
  { guard: 'outcomesAreKnown', target: 'sent', actions: settleAttempt },
] as const;
const settled = [
  { guard: 'reportFailsEveryRecipient', target: 'failed', actions: absorbReport },
  { guard: 'reportCompletesDelivery', target: 'delivered', actions: absorbReport },
  { guard: 'reportLeavesOutcomesMixed', target: 'sent', actions: absorbReport },
] as const;
/** A mail that comes back, and is no report, is noted for people: it changes nothing. */
const returned = { 'mail.returned': { guard: 'isFirstReturned', actions: noteReturned } } as const;
const reportsAfterwards = { 'report.received': settled, ...returned } as const;
/** The script of a test email continues, report by report, once the message was accepted. */
const scripted = {
  script: [
    { guard: 'scriptFailsEveryRecipient', target: 'failed', actions: absorbScript },
    { guard: 'scriptCompletesDelivery', target: 'delivered', reenter: true, actions: absorbScript },
    { guard: 'scriptLeavesOutcomesMixed', target: 'sent', reenter: true, actions: absorbScript },
  ],
} as const;
/** Reports while attempts may follow: a report can end a doubt, and with it the need for another attempt. */
const reportsWhileRetrying = {
  'report.received': [{ guard: 'reportLeavesRetries', actions: absorbReport }, ...settled],
  ...returned,
} as const;

/**
 * The step before an attempt. Live mail waits in `queued` until a process is ready to open a session and has
 * made the beginning of the attempt durable: a process that dies with a thousand emails waiting in its memory
 * leaves none of them in doubt. That takes one more write for a live email. A lease on the order alone would
 * save the write, but could not tell a session that was about to be opened from one that was open.
 *
 * The turn of an email that waits in `queued` is fired where an instance had claimed it in the state before,
 * and another was faster. It begins its wait again: without a timer no instance would find it, should its
 * order be lost.
 */
const nextAttempt = [
  { guard: 'isLive', target: 'queued', reenter: true, actions: [noteTime, offer] },
  { target: 'sending', actions: simulate },
] as const;

/** The lifecycle of one email, from acceptance to its last outcome. The API's `status` is the state. */
export const emailMachine = emailSetup.createMachine({
  id: 'email',
  context: ({ input }) => newEmail(input),
  initial: 'accepted',
  states: {
    accepted: {
      description: 'Passed through at once; no email is ever stored in it.',
      always: [
        { guard: 'isScheduledAhead', target: 'scheduled' },
        { guard: 'simulatorIsFree', target: 'sending', actions: simulate },
        { guard: 'isLive', target: 'queued', actions: offer },
        { target: 'queued' },
      ],
    },
    scheduled: {
      description: 'Waits for its scheduled time; can be rescheduled or cancelled.',
      on: {
        'cancel.requested': { target: 'cancelled', actions: [refundUnit, noteTime] },
        'reschedule.requested': { target: 'scheduled', reenter: true, actions: reschedule },
      },
      after: { due: nextAttempt },
    },
    queued: {
      description:
        'Waits until an attempt, the first or a later one, can begin: live mail for a session, or for a limit that leaves room, test mail for the simulator.',
      on: {
        'attempt.begun': { guard: 'isNextAttempt', target: 'sending', actions: beginAttempt },
        'attempt.postponed': {
          guard: 'isNextAttempt',
          target: 'queued',
          reenter: true,
          actions: postpone,
        },
        // The end of a campaign takes back only emails whose sending no instance has begun.
        'campaign.ended': { guard: 'noAttemptHasBegun', target: 'cancelled', actions: withdraw },
        'attempt.completed': outcomes,
        ...reportsWhileRetrying,
      },
      after: { turn: nextAttempt },
    },
    sending: {
      description:
        'An attempt runs. Without an outcome before the lease ends it counts as lost, and its recipients are in doubt.',
      on: {
        'attempt.completed': outcomes,
        'attempt.declined': { guard: 'isAttemptUnderWay', target: 'queued', actions: takeBackAttempt },
        ...reportsWhileRetrying,
      },
      after: {
        lease: [
          { guard: 'patienceIsOver', target: 'gaveUp', actions: [doubt, ...giveUp] },
          { guard: 'doubtIsHeld', target: 'deferred', actions: doubt },
          { guard: 'isLive', target: 'queued', actions: [doubt, offer] },
          { target: 'sending', reenter: true, actions: [doubt, ...simulate] },
        ],
      },
    },
    deferred: {
      description:
        'The last attempt was deferred, or it is unknown whether the server accepted the message; the next one is scheduled.',
      on: { 'attempt.completed': outcomes, ...reportsWhileRetrying },
      after: {
        backoff: [{ guard: 'nobodyMayBeTried', target: 'gaveUp', actions: giveUp }, ...nextAttempt],
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
      after: scripted,
    },
    delivered: {
      description: 'Delivered to every recipient. Opens, clicks and complaints may still be recorded.',
      on: reportsAfterwards,
      after: scripted,
    },
    failed: {
      type: 'final',
      description: 'No recipient is known to have got it, and none is tried again; failureReason says why.',
    },
    cancelled: {
      type: 'final',
      description: 'Cancelled by the client, or with its campaign, before its first attempt began.',
    },
  },
});

/** The states that an email is stored in. */
export const EMAIL_STATES = storedStates(emailMachine, ['accepted', 'gaveUp']);
export type EmailState = (typeof EMAIL_STATES)[number];
