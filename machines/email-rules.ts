import type { AttemptCompleted, EmailContext, EmailEvent, ReportReceived } from './email-context.ts';
import {
  afterAttempt,
  afterReport,
  type EmailEventType,
  type RecipientOutcome,
  type RecipientProgress,
  type RecordedEvent,
  type RestingState,
  restingState,
  sharedReason,
  telling,
} from './email-progress.ts';

/** Whether retries have run out. */
export const isExpired = (context: EmailContext, at: number): boolean =>
  at - (context.firstAttemptAt ?? at) >= context.patienceMs;

/** Whether the outcome belongs to the attempt under way and leads to that state. */
export const restsAfterAttempt = (context: EmailContext, event: EmailEvent, state: RestingState): boolean => {
  const completed = event as AttemptCompleted;
  if (completed.attempt !== context.attempt) return false;
  const expired = isExpired(context, completed.at);
  return restingState(afterAttempt(context.recipients, completed.outcomes, expired)) === state;
};

/** Whether the report says something new of a recipient that was reached, and leads to that state. */
export const restsAfterReport = (context: EmailContext, event: EmailEvent, state: RestingState): boolean => {
  const { report } = event as ReportReceived;
  const known = context.recipients[report.recipient];
  if (!known || known.status === 'pending' || known.status === 'failed') return false;
  if (report.type === 'delivered' && known.status === 'delivered') return false;
  return restingState(afterReport(context.recipients, report)) === state;
};

/** The event that a report is recorded as. */
export const eventOfReport = ({
  at,
  report: { type, recipient, permanent, data },
}: ReportReceived): RecordedEvent => ({
  type,
  recipient,
  at,
  data: type === 'bounced' ? { type: permanent === true ? 'Permanent' : 'Transient', ...data } : data,
});

/** Only a refused address is bad for good; a refused message says nothing of the person. */
export const badAddresses = (
  context: EmailContext,
  outcomes: readonly RecipientOutcome[],
): readonly number[] =>
  context.livemode
    ? telling(context.recipients, outcomes)
        .filter(({ outcome, reason }) => outcome === 'refused' && (reason ?? 'bounced') === 'bounced')
        .map(({ recipient }) => recipient)
    : [];

/** Whom a report takes off the list of people to write to. */
export const suppressionOfReport = (
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

/** The context once these recipients have come so far by these events. */
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

/** Initial and internal events of XState carry no time of their own; the engine adds one to fired timers. */
export const momentOf = (context: EmailContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;
