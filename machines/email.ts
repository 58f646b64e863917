import { setup } from 'xstate';
import type {
  AttemptCompleted,
  AttemptDeclined,
  EmailContext,
  EmailEvent,
  EmailInput,
  ReportReceived,
} from './email-context.ts';
import {
  afterAttempt,
  afterExpiry,
  afterLoss,
  afterReport,
  eventsOfAttempt,
  eventsOfExpiry,
  type RecipientOutcome,
  type RecordedEvent,
  restingState,
} from './email-progress.ts';
import {
  badAddresses,
  eventsOfReport,
  isExpired,
  momentOf,
  notesOfAttempt,
  restsAfterAttempt,
  restsAfterReport,
  type SuppressionReason,
  someMayBeTried,
  suppressionOfReport,
  waitAfterAttempt,
  withProgress,
} from './email-rules.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const EMAIL_VERSION = 1;

const emailSetup = setup({
  types: { context: {} as EmailContext, events: {} as EmailEvent, input: {} as EmailInput },
  guards: {
    isScheduledAhead: ({ context }) => context.scheduledAt !== null && context.scheduledAt > context.at,
    mustQueue: ({ context }) => !context.admitted,
    lostAttemptIsRepeated: ({ context, event }) =>
      !isExpired(context, momentOf(context, event)) && !context.holdsDoubt,
    lostAttemptIsHeld: ({ context, event }) =>
      !isExpired(context, momentOf(context, event)) && context.holdsDoubt,
    isAttemptUnderWay: ({ context, event }) => (event as AttemptDeclined).attempt === context.attempt,
    someMayBeTried: ({ context }) => someMayBeTried(context),
    someRecipientsWait: ({ context, event }) => restsAfterAttempt(context, event, 'deferred'),
    everyRecipientFailed: ({ context, event }) => restsAfterAttempt(context, event, 'failed'),
    outcomesAreKnown: ({ context, event }) => restsAfterAttempt(context, event, 'sent'),
    reportLeavesRetries: ({ context, event }) => restsAfterReport(context, event, 'deferred'),
    reportCompletesDelivery: ({ context, event }) => restsAfterReport(context, event, 'delivered'),
    reportFailsEveryRecipient: ({ context, event }) => restsAfterReport(context, event, 'failed'),
    reportLeavesOutcomesMixed: ({ context, event }) => restsAfterReport(context, event, 'sent'),
    nobodyWasReached: ({ context }) => restingState(context.recipients) === 'failed',
  },
  actions: {
    /** Order: hand the message to the transport, for the recipients still pending. */
    transmit: (_, _params: { readonly attempt: number }) => {},
    /** Fact: rows of the event log, and the webhook deliveries they cause. */
    record: (_, _params: { readonly events: readonly RecordedEvent[] }) => {},
    /** Fact: for whom an attempt came to nothing, and why. */
    note: (_, _params: { readonly attempt: number; readonly outcomes: readonly RecipientOutcome[] }) => {},
    /** Fact: the unit of quota goes back to the period it was taken from. */
    refund: (_, _params: { readonly acceptedAt: number; readonly at: number }) => {},
    /** Fact: these recipients get no more live mail. */
    suppress: (
      _,
      _params: { readonly recipients: readonly number[]; readonly reason: SuppressionReason },
    ) => {},
  },
  delays: {
    /** Until the moment the client asked for. */
    due: ({ context }) => Math.max(0, (context.scheduledAt ?? context.at) - context.at),
    /** How long a queued email waits before it asks for a slot again. */
    turn: 1_000,
    /** How long an attempt may run before it counts as lost. */
    lease: ({ context }) => context.leaseMs,
    /** The wait before the next attempt. */
    backoff: ({ context }) => waitAfterAttempt(context),
  },
});

const beginAttempt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  attempt: context.attempt + 1,
  firstAttemptAt: context.firstAttemptAt ?? momentOf(context, event),
}));
/** The number of an attempt that was not begun is free again: no outcome can ever carry it. */
const takeBackAttempt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  attempt: context.attempt - 1,
}));
const doubt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  recipients: afterLoss(context.recipients),
}));
const noteTime = emailSetup.assign(({ context, event }) => ({ at: momentOf(context, event) }));
const reschedule = emailSetup.assign(({ context, event }) => ({
  at: event.at,
  scheduledAt: event.type === 'reschedule.requested' ? event.scheduledAt : context.scheduledAt,
}));

/** What an attempt taught: its events, what came to nothing, bad addresses, then the recipients' progress. */
const settleAttempt = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const { outcomes, at } = event as AttemptCompleted;
      return { events: eventsOfAttempt(context.recipients, outcomes, at, isExpired(context, at)) };
    },
  },
  {
    type: 'note' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
      attempt: context.attempt,
      outcomes: notesOfAttempt(context, event as AttemptCompleted),
    }),
  },
  {
    type: 'suppress' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
      recipients: badAddresses(context, (event as AttemptCompleted).outcomes),
      reason: 'bounced' as const,
    }),
  },
  emailSetup.assign(({ context, event }) => {
    const { outcomes, at } = event as AttemptCompleted;
    const expired = isExpired(context, at);
    const events = eventsOfAttempt(context.recipients, outcomes, at, expired);
    return withProgress(context, at, afterAttempt(context.recipients, outcomes, expired), events);
  }),
];

/** A report about one recipient, after the message had left. */
const absorbReport = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
      events: eventsOfReport(context, event as ReportReceived),
    }),
  },
  {
    type: 'suppress' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) =>
      suppressionOfReport(context, event as ReportReceived),
  },
  emailSetup.assign(({ context, event }) => {
    const { report, at } = event as ReportReceived;
    const events = eventsOfReport(context, event as ReportReceived);
    return withProgress(context, at, afterReport(context.recipients, report), events);
  }),
];

/** Retries have run out: everybody still pending has failed. */
const giveUp = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
      events: eventsOfExpiry(context.recipients, momentOf(context, event)),
    }),
  },
  emailSetup.assign(({ context, event }) => {
    const at = momentOf(context, event);
    return withProgress(context, at, afterExpiry(context.recipients), eventsOfExpiry(context.recipients, at));
  }),
];

const refundUnit = {
  type: 'refund' as const,
  params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
    acceptedAt: context.acceptedAt,
    at: event.at,
  }),
};

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
  context: ({ input }) => ({
    ...input,
    holdsDoubt: input.holdsDoubt ?? false,
    acceptedAt: input.at,
    attempt: 0,
    firstAttemptAt: null,
    recipients: input.recipients.map(({ simulate }) => ({
      status: 'pending',
      lastEvent: null,
      reason: null,
      simulate,
      inDoubt: false,
    })),
    failureReason: null,
    lastEvent: null,
    sentAt: null,
    deliveredAt: null,
  }),
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
      description: 'Accepted; every slot of the transport was taken.',
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
