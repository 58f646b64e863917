import type {
  AttemptCompleted,
  AttemptDeclined,
  EmailContext,
  EmailEvent,
  EmailInput,
  MailReturned,
  ReportReceived,
} from './context.ts';
import {
  afterAttempt,
  afterReport,
  countedOutcomes,
  ENDS_UNASKED,
  EVENT_OF,
  eventsOfAttempt,
  MARKED,
  mayBeTried,
  type RestingState,
  resolvesDoubt,
  restingState,
  sharedReason,
} from './progress.ts';
import type { EmailEventType, RecipientOutcome, RecipientProgress, RecordedEvent } from './recipient.ts';
import { isRepeated } from './repetition.ts';

export const newEmail = (input: EmailInput): EmailContext => ({
  ...input,
  holdsDoubt: input.holdsDoubt ?? false,
  acceptedAt: input.acceptedAt ?? input.at,
  attempt: 0,
  begunBy: null,
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
});

/** True when retries have run out. */
export const isExpired = (context: EmailContext, at: number): boolean =>
  at - (context.firstAttemptAt ?? at) >= context.patienceMs;

/** A scheduled email that begins to leave at most this late bears the time that it was scheduled for. */
export const LATE_MS = 300_000;

/**
 * The moment that every copy of an email bears, in its Date field and its signatures: that of the first
 * attempt that had a copy. A scheduled one bears the time that was asked for, unless it leaves much later, as
 * after a warm-up's day; and never one to come.
 */
export function dateOf(
  { firstAttemptAt, datedAt, scheduledAt }: Pick<EmailContext, 'firstAttemptAt' | 'datedAt' | 'scheduledAt'>,
  now: number,
): number {
  const first = (datedAt === undefined ? firstAttemptAt : datedAt) ?? now;
  return scheduledAt !== null && scheduledAt <= first && first - scheduledAt <= LATE_MS ? scheduledAt : first;
}

/** The id of each attempt of test mail, which no event contains. */
export const SIMULATOR = 'simulator';

/** True when the event belongs to the attempt whose outcome is open: by its number, and by its id. */
export const isOfOpenAttempt = (
  context: Pick<EmailContext, 'attempt' | 'begunBy'>,
  event: EmailEvent,
): boolean => {
  const { attempt, by = SIMULATOR } = event as AttemptCompleted | AttemptDeclined;
  return attempt === context.attempt && by === context.begunBy;
};

/** The part of a day without the one that the attempt under way took: nothing was opened for it there. */
export const withoutCounted = ({ counted, attempt }: EmailContext): Pick<EmailContext, 'counted'> =>
  counted?.attempt === attempt ? { counted: null } : {};

/**
 * Keeps the last answer: several guards and actions ask the same of one event, and no context or event is
 * ever changed.
 */
function answeredOnce<Event extends object, Answer>(
  work: (context: EmailContext, event: Event) => Answer,
): (context: EmailContext, event: Event) => Answer {
  let last: { readonly context: EmailContext; readonly event: Event; readonly answer: Answer } | null = null;
  return (context, event) => {
    if (last?.context !== context || last.event !== event)
      last = { context, event, answer: work(context, event) };
    return last.answer;
  };
}

/** The progress after the outcomes of an attempt. */
export const progressOfAttempt = answeredOnce((context, { outcomes, at }: AttemptCompleted) =>
  afterAttempt(context, outcomes, isExpired(context, at)),
);

/** The events that the outcomes of an attempt are recorded as. */
export const recordedOfAttempt = answeredOnce((context, { outcomes, at }: AttemptCompleted) =>
  eventsOfAttempt(context, outcomes, at, isExpired(context, at)),
);

const restOfAttempt = answeredOnce((context, completed: AttemptCompleted) =>
  isOfOpenAttempt(context, completed) ? restingState(progressOfAttempt(context, completed)) : null,
);

/** True when the outcome belongs to the attempt whose outcome is open, and leads to that state. */
export const restsAfterAttempt = (context: EmailContext, event: EmailEvent, state: RestingState): boolean =>
  restOfAttempt(context, event as AttemptCompleted) === state;

/**
 * True when a refused report may be about the attempt whose outcome is open: after the outcome it may count.
 */
export const comesBeforeOutcome = (state: string, { recipients }: EmailContext, recipient: number): boolean =>
  state === 'sending' && recipients[recipient]?.status === 'pending';

/** The progress after a report about one recipient. */
export const progressOfReport = answeredOnce((context, received: ReportReceived) =>
  afterReport(context.recipients, received),
);

const restOfReport = answeredOnce((context, received: ReportReceived) => {
  const known = context.recipients[received.report.recipient];
  if (!known || known.status === 'failed' || (known.status === 'pending' && !known.inDoubt)) return null;
  return isRepeated(known, received) ? null : restingState(progressOfReport(context, received));
});

/** True when the report is new for a recipient that was reached, and leads to that state. */
export const restsAfterReport = (context: EmailContext, event: EmailEvent, state: RestingState): boolean =>
  restOfReport(context, event as ReportReceived) === state;

/** The events that a report is recorded as. A report that ends a doubt is preceded by the `sent` event. */
export const eventsOfReport = (
  { recipients }: EmailContext,
  { at, report }: ReportReceived,
): readonly RecordedEvent[] => {
  const { type, recipient, permanent, data } = report;
  const recorded =
    type === 'bounced' ? { type: permanent === true ? 'Permanent' : 'Transient', ...data } : data;
  const event = { type, recipient, at, data: recorded };
  return resolvesDoubt(recipients[recipient], report)
    ? [{ type: 'sent', recipient, at, data: LATE_PROOF }, event]
    : [event];
};

const LATE_PROOF = {
  provider: null,
  messageId: null,
  response: 'No reply came to the attempt; a later report shows that the message arrived.',
};

/** True when no mail has come back for the recipient yet that is no report. */
export const isFirstReturned = ({ recipients }: EmailContext, { recipient }: MailReturned): boolean =>
  recipients[recipient] !== undefined && recipients[recipient].hasReturned !== true;

/** The progress once a mail has come back for the recipient that is no report. */
export const withReturned = (
  recipients: readonly RecipientProgress[],
  recipient: number,
): readonly RecipientProgress[] =>
  recipients.map((one, index) => (index === recipient ? { ...one, hasReturned: true } : one));

/** The outcomes of an attempt that leave no event. Those that end a recipient in doubt say so. */
export const notesOfAttempt = (
  { recipients }: EmailContext,
  { outcomes }: AttemptCompleted,
): readonly RecipientOutcome[] =>
  countedOutcomes(recipients, outcomes)
    .filter(({ outcome }) => EVENT_OF[outcome] === null)
    .map((one) =>
      ENDS_UNASKED[one.outcome] && recipients[one.recipient]?.inDoubt
        ? { ...one, data: { ...one.data, ...MARKED } }
        : one,
    );

/** True when another attempt would include any recipient. */
export const someMayBeTried = ({ recipients, holdsDoubt }: EmailContext): boolean =>
  recipients.some((one) => mayBeTried(one, holdsDoubt));

/**
 * The wait after a doubt: RFC 5321 4.5.3.2.6 gives a server ten minutes after the final dot, in which a
 * report may settle it.
 */
const DOUBT_MS = 600_000;

/**
 * The wait before the next attempt. The last attempt comes when patience ends, however long the next wait
 * would be, and so does the end where no recipient may be tried again. A doubt alone outlasts patience, by as
 * long as a report may take.
 */
export function waitAfterAttempt(context: EmailContext): number {
  const { at, attempt, backoffMs, recipients, firstAttemptAt, patienceMs } = context;
  const left = Math.max(0, (firstAttemptAt ?? at) + patienceMs - at);
  if (!someMayBeTried(context)) return left;
  const step = Math.min(left, backoffMs[Math.min(attempt, backoffMs.length) - 1] ?? 60_000);
  return recipients.some(({ inDoubt }) => inDoubt) ? Math.max(step, DOUBT_MS) : step;
}

/** The recipients whose address was refused for good. A refused message says nothing about the address. */
export const badAddresses = (
  context: EmailContext,
  outcomes: readonly RecipientOutcome[],
): readonly number[] =>
  context.livemode
    ? countedOutcomes(context.recipients, outcomes)
        .filter(
          ({ outcome, reason, suppresses }) =>
            outcome === 'refused' && (reason ?? 'bounced') === 'bounced' && suppresses !== false,
        )
        .map(({ recipient }) => recipient)
    : [];

/** The reasons that an address gets no more mail; `manual` means that a client entered it. */
export const SUPPRESSION_REASONS = ['bounced', 'complained', 'unsubscribed', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** The reason that stops lists alone. Any other replaces it; among the others the first one stays. */
export const WEAKEST_REASON = 'unsubscribed' satisfies SuppressionReason;

/** A reason that an email's outcome can give. */
export type LearnedReason = Exclude<SuppressionReason, 'manual'>;

/** The recipients that a report suppresses, and the reason. */
export const suppressionOfReport = (
  { livemode }: Pick<EmailContext, 'livemode'>,
  { report: { type, recipient, permanent, suppresses } }: ReportReceived,
): { readonly recipients: readonly number[]; readonly reason: LearnedReason } => {
  const isBad = type === 'complained' || (type === 'bounced' && permanent === true);
  const reason = type === 'complained' || type === 'unsubscribed' ? type : 'bounced';
  return { recipients: livemode && (suppresses ?? isBad) ? [recipient] : [], reason };
};

const latest = (events: readonly RecordedEvent[], before: EmailEventType | null): EmailEventType | null =>
  events.at(-1)?.type ?? before;

/** The changes of the context when these events have led to this progress. */
export const withProgress = (
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

/**
 * The time of an event. Initial and internal events of XState carry none; the engine adds one to fired
 * timers.
 */
export const momentOf = (context: EmailContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;
