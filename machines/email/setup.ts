import { setup } from 'xstate';
import type {
  AttemptBegun,
  AttemptCompleted,
  AttemptPostponed,
  EmailContext,
  EmailEvent,
  EmailInput,
  MailReturned,
  ReportReceived,
} from './context.ts';
import { afterExpiry, afterLoss, eventsOfExpiry, restingState } from './progress.ts';
import type { Note, RecipientOutcome, RecordedEvent } from './recipient.ts';
import {
  badAddresses,
  eventsOfReport,
  isExpired,
  isFirstReturned,
  isOfOpenAttempt,
  type LearnedReason,
  momentOf,
  notesOfAttempt,
  progressOfAttempt,
  progressOfReport,
  recordedOfAttempt,
  restsAfterAttempt,
  restsAfterReport,
  SIMULATOR,
  someMayBeTried,
  suppressionOfReport,
  waitAfterAttempt,
  withoutCounted,
  withProgress,
  withReturned,
} from './rules.ts';
import { scriptRests, turnOfScript, waitForScript } from './script-turn.ts';

/** The time after which a queued email offers itself again. */
const TURN_MS = 1_000;

/** The guards, effects and delays of the email machine by name. */
export const emailSetup = setup({
  types: { context: {} as EmailContext, events: {} as EmailEvent, input: {} as EmailInput },
  guards: {
    isScheduledAhead: ({ context }) => context.scheduledAt !== null && context.scheduledAt > context.at,
    isLive: ({ context }) => context.livemode,
    simulatorIsFree: ({ context }) => !context.livemode && context.admitted,
    isNextAttempt: ({ context, event }) =>
      context.livemode && (event as AttemptBegun | AttemptPostponed).attempt === context.attempt + 1,
    noAttemptHasBegun: ({ context }) => context.attempt === 0,
    isAttemptUnderWay: ({ context, event }) => isOfOpenAttempt(context, event),
    patienceIsOver: ({ context, event }) => isExpired(context, momentOf(context, event)),
    doubtIsHeld: ({ context }) => context.holdsDoubt,
    nobodyMayBeTried: ({ context }) => !someMayBeTried(context),
    someRecipientsWait: ({ context, event }) => restsAfterAttempt(context, event, 'deferred'),
    everyRecipientFailed: ({ context, event }) => restsAfterAttempt(context, event, 'failed'),
    outcomesAreKnown: ({ context, event }) => restsAfterAttempt(context, event, 'sent'),
    reportLeavesRetries: ({ context, event }) => restsAfterReport(context, event, 'deferred'),
    reportCompletesDelivery: ({ context, event }) => restsAfterReport(context, event, 'delivered'),
    reportFailsEveryRecipient: ({ context, event }) => restsAfterReport(context, event, 'failed'),
    reportLeavesOutcomesMixed: ({ context, event }) => restsAfterReport(context, event, 'sent'),
    isFirstReturned: ({ context, event }) => isFirstReturned(context, event as MailReturned),
    scriptFailsEveryRecipient: ({ context, event }) =>
      scriptRests(context, momentOf(context, event), 'failed'),
    scriptCompletesDelivery: ({ context, event }) =>
      scriptRests(context, momentOf(context, event), 'delivered'),
    scriptLeavesOutcomesMixed: ({ context, event }) => scriptRests(context, momentOf(context, event), 'sent'),
    nobodyWasReached: ({ context }) => restingState(context.recipients) === 'failed',
  },
  // An effect whose parameters are null has nothing to do: it is dropped, and the journal does not name it.
  actions: {
    /**
     * Order: carry out this attempt for the recipients still pending. An attempt of live mail has yet to be
     * begun.
     */
    transmit: (_, _params: { readonly attempt: number }) => {},
    /** Fact: rows of the event log, and the webhook deliveries they cause. */
    record: (_, _params: { readonly events: readonly RecordedEvent[] } | null) => {},
    /** Fact: outcomes that leave no event. */
    note: (_, _params: { readonly attempt: number; readonly outcomes: readonly Note[] } | null) => {},
    /** Fact: the unit of quota goes back to the period it was taken from. */
    refund: (_, _params: { readonly acceptedAt: number }) => {},
    /** Fact: these recipients get no more live mail. */
    suppress: (
      _,
      _params: { readonly recipients: readonly number[]; readonly reason: LearnedReason } | null,
    ) => {},
  },
  delays: {
    /** The wait until the time that the client asked for. */
    due: ({ context }) => Math.max(0, (context.scheduledAt ?? context.at) - context.at),
    /**
     * The time after which a queued email offers itself again: at once, or when a limit leaves room for it.
     */
    turn: ({ context }) => Math.max(TURN_MS, (context.postponed?.until ?? 0) - context.at),
    /** The time after which an attempt without an outcome counts as lost. */
    lease: ({ context }) => context.leaseMs,
    /** The wait before the next attempt. */
    backoff: ({ context }) => waitAfterAttempt(context),
    /**
     * The wait until the next report of a test email's script; without end for an email that has none left.
     */
    script: ({ context }) => waitForScript(context),
  },
});

/** When the copies of an attempt were made ready; null for one that has none, and for test mail. */
const readyAt = (event: EmailEvent): number | null =>
  event.type === 'attempt.begun' ? (event.readyAt ?? null) : null;

/** The moment that copies bear, where it is not that of the first attempt. */
const dated = (context: EmailContext, event: EmailEvent): Pick<EmailContext, 'datedAt'> => {
  const { firstAttemptAt, datedAt } = context;
  const isWithoutCopies = event.type === 'attempt.begun' && event.readyAt === undefined;
  if (datedAt === undefined) return firstAttemptAt === null && isWithoutCopies ? { datedAt: null } : {};
  return datedAt === null ? { datedAt: readyAt(event) } : {};
};

/** Counts the next attempt; patience counts from the first one. */
export const beginAttempt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  attempt: context.attempt + 1,
  begunBy: event.type === 'attempt.begun' ? event.by : SIMULATOR,
  // A wait may end early: its limit is gone.
  ...(context.postponed && {
    postponed: { ...context.postponed, until: Math.min(context.postponed.until, momentOf(context, event)) },
  }),
  ...(event.type === 'attempt.begun' &&
    event.counted !== undefined && {
      counted: { attempt: context.attempt + 1, transport: event.counted },
    }),
  firstAttemptAt: context.firstAttemptAt ?? readyAt(event) ?? momentOf(context, event),
  ...dated(context, event),
}));
/** Dates of a first attempt that sent nothing: no copy bears any moment yet. */
const undated = ({ datedAt }: EmailContext): Partial<EmailContext> => ({
  firstAttemptAt: null,
  ...(datedAt !== undefined && { datedAt: null }),
});
/**
 * Waits for the limit that leaves no room. Days of it are no part of the patience, even where an attempt that
 * opened nothing began that.
 */
export const postpone = emailSetup.assign(({ context, event }) => ({
  at: event.at,
  ...undated(context),
  postponed: (event as AttemptPostponed).because,
}));
/** Begins a simulated attempt: it needs no session, so it is under way as soon as it is ordered. */
export const simulate = [
  beginAttempt,
  {
    type: 'transmit' as const,
    params: ({ context }: { context: EmailContext }) => ({ attempt: context.attempt }),
  },
] as const;
/** Offers the next attempt to the first process that is ready to open a session for it. */
export const offer = {
  type: 'transmit' as const,
  params: ({ context }: { context: EmailContext }) => ({ attempt: context.attempt + 1 }),
};
/** Frees the number of an attempt that was not carried out: no outcome can ever carry it. */
export const takeBackAttempt = emailSetup.assign(({ context, event }) => ({
  ...withoutCounted(context),
  at: momentOf(context, event),
  attempt: context.attempt - 1,
  begunBy: null,
  ...(context.attempt === 1 && undated(context)),
}));
/** Marks the recipients of a lost attempt as in doubt: they may have got the message. */
export const doubt = emailSetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  recipients: afterLoss(context),
}));
/** Notes the time of the event, and changes nothing else. */
export const noteTime = emailSetup.assign(({ context, event }) => ({ at: momentOf(context, event) }));
/** Sets another time to send at. */
export const reschedule = emailSetup.assign(({ context, event }) => ({
  at: event.at,
  scheduledAt: event.type === 'reschedule.requested' ? event.scheduledAt : context.scheduledAt,
}));

/** Takes the outcomes of an attempt: events, notes, bad addresses, then the recipients' progress. */
export const settleAttempt = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const events = recordedOfAttempt(context, event as AttemptCompleted);
      return events.length > 0 ? { events } : null;
    },
  },
  {
    type: 'note' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const outcomes = notesOfAttempt(context, event as AttemptCompleted);
      return outcomes.length > 0 ? { attempt: context.attempt, outcomes } : null;
    },
  },
  {
    type: 'suppress' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const recipients = badAddresses(context, (event as AttemptCompleted).outcomes);
      return recipients.length > 0 ? { recipients, reason: 'bounced' as const } : null;
    },
  },
  emailSetup.assign(({ context, event }) => {
    const completed = event as AttemptCompleted;
    const events = recordedOfAttempt(context, completed);
    return {
      ...withProgress(context, completed.at, progressOfAttempt(context, completed), events),
      ...(completed.uncounted === true && withoutCounted(context)),
      // An outcome counts once, however often it is reported.
      begunBy: null,
    };
  }),
];

/** Takes a report about one recipient. */
export const absorbReport = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => ({
      events: eventsOfReport(context, event as ReportReceived),
    }),
  },
  {
    type: 'suppress' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const suppression = suppressionOfReport(context, event as ReportReceived);
      return suppression.recipients.length > 0 ? suppression : null;
    },
  },
  emailSetup.assign(({ context, event }) => {
    const received = event as ReportReceived;
    const events = eventsOfReport(context, received);
    return withProgress(context, received.at, progressOfReport(context, received), events);
  }),
];

/**
 * Notes that a mail came back that is no report. It says nothing about the recipient, whose progress stays.
 */
export const noteReturned = [
  {
    type: 'note' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const { recipient, subject } = event as MailReturned;
      return {
        attempt: context.attempt,
        outcomes: [{ recipient, outcome: 'returned' as const, data: { message: subject } }],
      };
    },
  },
  emailSetup.assign(({ context, event }) => ({
    recipients: withReturned(context.recipients, (event as MailReturned).recipient),
  })),
];

/**
 * Takes the reports of the script that are due. The machine makes them itself, so none is repeated or lost.
 */
export const absorbScript = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const { events } = turnOfScript(context, momentOf(context, event));
      return events.length > 0 ? { events } : null;
    },
  },
  emailSetup.assign(({ context, event }) => {
    const at = momentOf(context, event);
    const { recipients, events, scripted } = turnOfScript(context, at);
    return { ...withProgress(context, at, recipients, events), scripted };
  }),
];

/** Ends the retries: recipients that are still pending have failed. */
export const giveUp = [
  {
    type: 'record' as const,
    params: ({ context, event }: { context: EmailContext; event: EmailEvent }) => {
      const events = eventsOfExpiry(context.recipients, momentOf(context, event));
      return events.length > 0 ? { events } : null;
    },
  },
  emailSetup.assign(({ context, event }) => {
    const at = momentOf(context, event);
    return withProgress(context, at, afterExpiry(context.recipients), eventsOfExpiry(context.recipients, at));
  }),
];

/** Gives the unit of quota back, since the email is never sent. */
export const refundUnit = {
  type: 'refund' as const,
  params: ({ context }: { context: EmailContext }) => ({ acceptedAt: context.acceptedAt }),
};

/**
 * Ends an email that its campaign no longer sends: the unit is returned, and the campaign gets the recipients
 * that receive no email.
 */
export const withdraw = [
  refundUnit,
  {
    type: 'note' as const,
    params: ({ context }: { context: EmailContext }) => ({
      attempt: context.attempt,
      outcomes: context.recipients.map(
        (_, recipient): RecipientOutcome => ({
          recipient,
          outcome: 'suppressed',
          data: { reason: 'cancelled' },
        }),
      ),
    }),
  },
  noteTime,
] as const;
