import { setup } from 'xstate';
import {
  afterAttempt,
  afterExpiry,
  afterReport,
  type EmailEventType,
  eventsOfAttempt,
  eventsOfExpiry,
  type FailureReason,
  type RecipientOutcome,
  type RecipientProgress,
  type RecordedEvent,
  type RestingState,
  restingState,
  sharedReason,
  telling,
} from './email-progress.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const EMAIL_VERSION = 1;

/** What an email's machine remembers: small plain JSON, no bodies, no addresses. Times are epoch milliseconds. */
export interface EmailContext {
  /** When the last event happened; delays count from here. */
  readonly at: number;
  readonly livemode: boolean;
  readonly acceptedAt: number;
  readonly scheduledAt: number | null;
  /** False while every slot of the transport is taken: the email waits in `queued`. */
  readonly admitted: boolean;
  /** Number of the latest attempt; every outcome must carry it. */
  readonly attempt: number;
  /** How long an attempt may stay without an outcome before it counts as lost. */
  readonly leaseMs: number;
  /** How long temporary failures are retried, from the first attempt. */
  readonly patienceMs: number;
  readonly firstAttemptAt: number | null;
  /** Waits before attempt 2, 3, …; the last one repeats. */
  readonly backoffMs: readonly number[];
  readonly recipients: readonly RecipientProgress[];
  readonly failureReason: FailureReason | null;
  readonly lastEvent: EmailEventType | null;
  readonly sentAt: number | null;
  readonly deliveredAt: number | null;
}

/** What is known of an email when it is accepted. */
export type EmailInput = Pick<
  EmailContext,
  'at' | 'livemode' | 'scheduledAt' | 'admitted' | 'leaseMs' | 'patienceMs' | 'backoffMs'
> & { readonly recipients: readonly { readonly simulate: string | null }[] };

export type EmailEvent =
  /** A client cancels a scheduled email. */
  | { readonly type: 'cancel.requested'; readonly at: number }
  /** A client moves a scheduled email to another time. */
  | { readonly type: 'reschedule.requested'; readonly at: number; readonly scheduledAt: number }
  /** The transport or the simulator reports on one attempt, recipient by recipient. */
  | {
      readonly type: 'attempt.completed';
      readonly at: number;
      readonly attempt: number;
      readonly outcomes: readonly RecipientOutcome[];
    }
  /** Something was learned of one recipient after the message had left. */
  | {
      readonly type: 'report.received';
      readonly at: number;
      readonly report: {
        readonly type: Exclude<EmailEventType, 'sent'>;
        readonly recipient: number;
        /** Read for 'bounced': whether the address is bad for good. */
        readonly permanent?: boolean;
        readonly data: Readonly<Record<string, unknown>>;
      };
    };

type AttemptCompleted = Extract<EmailEvent, { type: 'attempt.completed' }>;
type ReportReceived = Extract<EmailEvent, { type: 'report.received' }>;

const isExpired = (context: EmailContext, at: number): boolean =>
  at - (context.firstAttemptAt ?? at) >= context.patienceMs;

const restsAfterAttempt = (context: EmailContext, event: EmailEvent, state: RestingState): boolean => {
  const completed = event as AttemptCompleted;
  if (completed.attempt !== context.attempt) return false;
  const expired = isExpired(context, completed.at);
  return restingState(afterAttempt(context.recipients, completed.outcomes, expired)) === state;
};

const restsAfterReport = (context: EmailContext, event: EmailEvent, state: RestingState): boolean => {
  const { report } = event as ReportReceived;
  const known = context.recipients[report.recipient];
  if (!known || known.status === 'pending' || known.status === 'failed') return false;
  if (report.type === 'delivered' && known.status === 'delivered') return false;
  return restingState(afterReport(context.recipients, report)) === state;
};

const eventOfReport = ({
  at,
  report: { type, recipient, permanent, data },
}: ReportReceived): RecordedEvent => ({
  type,
  recipient,
  at,
  data: type === 'bounced' ? { type: permanent === true ? 'Permanent' : 'Transient', ...data } : data,
});

/** Only a refused address is bad for good; a refused message says nothing of the person. */
const badAddresses = (context: EmailContext, outcomes: readonly RecipientOutcome[]): readonly number[] =>
  context.livemode
    ? telling(context.recipients, outcomes)
        .filter(({ outcome, reason }) => outcome === 'refused' && (reason ?? 'bounced') === 'bounced')
        .map(({ recipient }) => recipient)
    : [];

const suppressionOfReport = (
  context: EmailContext,
  { report }: ReportReceived,
): { readonly recipients: readonly number[]; readonly reason: 'bounced' | 'complained' } => {
  const bad = report.type === 'complained' || (report.type === 'bounced' && report.permanent === true);
  return {
    recipients: context.livemode && bad ? [report.recipient] : [],
    reason: report.type === 'complained' ? 'complained' : 'bounced',
  };
};

const latest = (events: readonly RecordedEvent[], before: EmailEventType | null): EmailEventType | null =>
  events.at(-1)?.type ?? before;

const withProgress = (
  context: EmailContext,
  at: number,
  recipients: readonly RecipientProgress[],
  events: readonly RecordedEvent[],
): Partial<EmailContext> => ({
  at,
  recipients,
  lastEvent: latest(events, context.lastEvent),
  failureReason: sharedReason(recipients),
  sentAt: context.sentAt ?? (events.some((event) => event.type === 'sent') ? at : null),
  deliveredAt: restingState(recipients) === 'delivered' ? (context.deliveredAt ?? at) : context.deliveredAt,
});

/** Initial and internal events of XState carry no time of their own; the engine adds one to fired timers. */
const momentOf = (context: EmailContext, event: { readonly at?: number }): number => event.at ?? context.at;

const emailSetup = setup({
  types: { context: {} as EmailContext, events: {} as EmailEvent, input: {} as EmailInput },
  guards: {
    isScheduledAhead: ({ context }) => context.scheduledAt !== null && context.scheduledAt > context.at,
    mustQueue: ({ context }) => !context.admitted,
    patienceRemains: ({ context, event }) => !isExpired(context, momentOf(context, event)),
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
    /** Fact: the unit of quota goes back to the period it was taken from. */
    refund: (_, _params: { readonly acceptedAt: number; readonly at: number }) => {},
    /** Fact: these recipients get no more live mail. */
    suppress: (
      _,
      _params: { readonly recipients: readonly number[]; readonly reason: 'bounced' | 'complained' },
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
    backoff: ({ context }) =>
      context.backoffMs[Math.min(context.attempt, context.backoffMs.length) - 1] ?? 60_000,
  },
});

const beginAttempt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  attempt: context.attempt + 1,
  firstAttemptAt: context.firstAttemptAt ?? momentOf(context, event),
}));
const noteTime = emailSetup.assign(({ context, event }) => ({ at: momentOf(context, event) }));
const reschedule = emailSetup.assign(({ context, event }) => ({
  at: event.at,
  scheduledAt: event.type === 'reschedule.requested' ? event.scheduledAt : context.scheduledAt,
}));

/** What an attempt taught: its events, bad addresses, then the recipients' progress. */
const settleAttempt = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const { outcomes, at } = event as AttemptCompleted;
      return { events: eventsOfAttempt(context.recipients, outcomes, at, isExpired(context, at)) };
    },
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
    params: ({ event }: { event: EmailEvent }) => ({ events: [eventOfReport(event as ReportReceived)] }),
  },
  {
    type: 'suppress' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) =>
      suppressionOfReport(context, event as ReportReceived),
  },
  emailSetup.assign(({ context, event }) => {
    const { report, at } = event as ReportReceived;
    const events = [eventOfReport(event as ReportReceived)];
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

const reportsWhileRetrying = {
  'report.received': { guard: 'reportLeavesRetries', actions: absorbReport },
} as const;
const reportsAfterwards = {
  'report.received': [
    { guard: 'reportFailsEveryRecipient', target: 'failed', actions: absorbReport },
    { guard: 'reportCompletesDelivery', target: 'delivered', actions: absorbReport },
    { guard: 'reportLeavesOutcomesMixed', target: 'sent', actions: absorbReport },
  ],
} as const;

/** The life of one email, from acceptance to its last outcome. The API's `status` is the state. */
export const emailMachine = emailSetup.createMachine({
  id: 'email',
  context: ({ input }) => ({
    ...input,
    acceptedAt: input.at,
    attempt: 0,
    firstAttemptAt: null,
    recipients: input.recipients.map(({ simulate }) => ({
      status: 'pending',
      lastEvent: null,
      reason: null,
      simulate,
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
      description: 'Accepted; every slot of the transport is taken.',
      after: { turn: 'sending' },
    },
    sending: {
      description:
        'An attempt runs. Without an outcome before the lease ends it counts as lost and is repeated.',
      entry: [beginAttempt, { type: 'transmit', params: ({ context }) => ({ attempt: context.attempt }) }],
      on: {
        'attempt.completed': [
          { guard: 'someRecipientsWait', target: 'deferred', actions: settleAttempt },
          { guard: 'everyRecipientFailed', target: 'failed', actions: settleAttempt },
          { guard: 'outcomesAreKnown', target: 'sent', actions: settleAttempt },
        ],
        ...reportsWhileRetrying,
      },
      after: {
        lease: [
          { guard: 'patienceRemains', target: 'sending', reenter: true },
          { target: 'gaveUp', actions: giveUp },
        ],
      },
    },
    deferred: {
      description: 'A temporary failure; the next attempt is timed.',
      on: reportsWhileRetrying,
      after: { backoff: 'sending' },
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
