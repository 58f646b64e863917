import type { EmailContext, ReportReceived } from './context.ts';
import {
  type FailureReason,
  type RecipientOutcome,
  type RecipientProgress,
  type RecordedEvent,
  WITHHELD_REASONS,
  type WithheldReason,
} from './recipient.ts';
import { reasonOfReport, remembered } from './repetition.ts';

/** The state of an email while no attempt is running or due. */
export type RestingState = 'deferred' | 'sent' | 'delivered' | 'failed';

/**
 * The state that follows from the recipients' progress: `deferred` while one is pending, `delivered` or
 * `failed` when all are, and `sent` when an outcome is open or outcomes differ.
 */
export function restingState(recipients: readonly RecipientProgress[]): RestingState {
  if (recipients.some((one) => one.status === 'pending')) return 'deferred';
  if (recipients.every((one) => one.status === 'delivered')) return 'delivered';
  if (recipients.every((one) => one.status === 'failed')) return 'failed';
  return 'sent';
}

/** The email's own reason once every recipient failed: a bounce explains more than a suppression does. */
export function sharedReason(recipients: readonly RecipientProgress[]): FailureReason | null {
  if (restingState(recipients) !== 'failed') return null;
  const reasons = recipients.map((one) => one.reason);
  const ranked: readonly FailureReason[] = ['domain_removed', 'rejected', 'bounced', 'expired', 'suppressed'];
  return ranked.find((reason) => reasons.includes(reason)) ?? 'bounced';
}

function changed(
  recipients: readonly RecipientProgress[],
  index: number,
  change: Partial<RecipientProgress>,
): readonly RecipientProgress[] {
  return recipients.map((one, i) => (i === index ? { ...one, ...change } : one));
}

/** The outcomes that count: the first one of each recipient that is still pending. */
export function countedOutcomes(
  recipients: readonly RecipientProgress[],
  outcomes: readonly RecipientOutcome[],
): readonly RecipientOutcome[] {
  const seen = new Set<number>();
  return outcomes.filter(({ recipient }) => {
    if (seen.has(recipient) || recipients[recipient]?.status !== 'pending') return false;
    seen.add(recipient);
    return true;
  });
}

/** The members of the context that an outcome is judged by. */
export type AttemptContext = Pick<EmailContext, 'recipients' | 'holdsDoubt' | 'attempt'>;

/**
 * The doubt of a recipient that an attempt leaves without an answer. A doubt about an earlier attempt is the
 * older question, and stays.
 */
const doubtedBy = ({ inDoubt, doubted }: RecipientProgress, attempt: number): Partial<RecipientProgress> =>
  inDoubt ? { inDoubt, ...(doubted !== undefined && { doubted }) } : { inDoubt: true, doubted: attempt };

const undoubted = ({ doubted }: RecipientProgress): Partial<RecipientProgress> =>
  doubted === undefined ? { inDoubt: false } : { inDoubt: false, doubted: null };

/**
 * The end of a doubt, where an attempt reports that it delivered nothing. The report concerns that attempt
 * alone: an earlier one may have reached the recipient. Where doubts are held, a recipient in doubt is in no
 * later attempt.
 */
const unlessEarlier = (
  known: RecipientProgress,
  { holdsDoubt, attempt }: AttemptContext,
): Partial<RecipientProgress> =>
  known.inDoubt && (holdsDoubt || known.doubted === attempt) ? undoubted(known) : {};

/** Why nothing was sent, as the outcome of an attempt says. */
const withheldBy = ({ data }: RecipientOutcome): Pick<RecipientProgress, 'withheld'> => {
  const withheld = WITHHELD_REASONS.find((reason): reason is WithheldReason => reason === data.reason);
  return withheld === undefined ? {} : { withheld };
};

/** Each outcome's change of its recipient. An outcome that asked no server leaves a doubt as it is. */
const CHANGES: {
  readonly [Each in RecipientOutcome['outcome']]: (
    outcome: RecipientOutcome,
    known: RecipientProgress,
    tried: AttemptContext,
  ) => Partial<RecipientProgress>;
} = {
  accepted: (_, known) => ({ status: 'sent', lastEvent: 'sent', ...undoubted(known) }),
  unknown: (_, known, { attempt }) => doubtedBy(known, attempt),
  deferred: (_, known, tried) => unlessEarlier(known, tried),
  refused: ({ reason = 'bounced' }, known, tried) => ({
    status: 'failed',
    lastEvent: 'bounced',
    reason,
    ...unlessEarlier(known, tried),
  }),
  // No server has said anything, so that nothing bounced.
  suppressed: (outcome) => ({ status: 'failed', reason: 'suppressed', ...withheldBy(outcome) }),
  removed: () => ({ status: 'failed', reason: 'domain_removed' }),
};

/** The progress after an attempt. With `expired`, recipients that are still pending have failed. */
export function afterAttempt(
  tried: AttemptContext,
  outcomes: readonly RecipientOutcome[],
  expired: boolean,
): readonly RecipientProgress[] {
  let next = tried.recipients;
  for (const counted of countedOutcomes(next, outcomes)) {
    const { recipient, outcome } = counted;
    const known = tried.recipients[recipient];
    if (known) next = changed(next, recipient, CHANGES[outcome](counted, known, tried));
  }
  return expired ? afterExpiry(next) : next;
}

/** The progress once retries have run out. A recipient in doubt stays in doubt. */
export function afterExpiry(recipients: readonly RecipientProgress[]): readonly RecipientProgress[] {
  return recipients.map((one) =>
    one.status === 'pending' ? { ...one, status: 'failed', lastEvent: 'bounced', reason: 'expired' } : one,
  );
}

/**
 * True when the next attempt includes a recipient: a pending one, unless a second copy might reach it and
 * doubt is held.
 */
export const mayBeTried = (
  { status, inDoubt }: Pick<RecipientProgress, 'status' | 'inDoubt'>,
  holdsDoubt: boolean,
): boolean => status === 'pending' && !(inDoubt && holdsDoubt);

/** The progress when an attempt is lost: every pending recipient of live mail may have been reached. */
export const afterLoss = ({
  recipients,
  attempt,
}: Pick<EmailContext, 'recipients' | 'attempt'>): readonly RecipientProgress[] =>
  recipients.map((one) =>
    one.status === 'pending' && one.simulate === null ? { ...one, ...doubtedBy(one, attempt) } : one,
  );

/** Marks the event that ends a recipient who may have got the message before, and no other event. */
export const MARKED = { inDoubt: true } as const;

/**
 * The event that each outcome leaves. Without an answer of a server, and while another attempt may follow,
 * there is none.
 */
export const EVENT_OF: Readonly<Record<RecipientOutcome['outcome'], 'sent' | 'bounced' | null>> = {
  accepted: 'sent',
  refused: 'bounced',
  deferred: null,
  unknown: null,
  suppressed: null,
  removed: null,
};

/** The outcomes that end a recipient without having asked a server. */
export const ENDS_UNASKED: Readonly<Record<RecipientOutcome['outcome'], boolean>> = {
  suppressed: true,
  removed: true,
  accepted: false,
  refused: false,
  deferred: false,
  unknown: false,
};

/** The events that an attempt causes, in the recipients' order. */
export function eventsOfAttempt(
  tried: AttemptContext,
  outcomes: readonly RecipientOutcome[],
  at: number,
  expired: boolean,
): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  const after = afterAttempt(tried, outcomes, false);
  for (const { recipient, outcome, data } of countedOutcomes(tried.recipients, outcomes)) {
    const type = EVENT_OF[outcome];
    if (type === 'sent') events.push({ type, recipient, at, data });
    if (type === 'bounced')
      events.push({
        type,
        recipient,
        at,
        data: { type: 'Permanent', ...data, ...(after[recipient]?.inDoubt && MARKED) },
      });
  }
  return expired ? [...events, ...eventsOfExpiry(after, at, outcomes)] : events;
}

/** The members of a bounce that no server gave a reason for: a bounce always has all of them. */
const noAnswer = (message: string) => ({ smtpCode: null, enhancedCode: null, message, remoteMta: null });
const NOT_TAKEN = noAnswer('Retries ran out before a server accepted the message.');
const IN_DOUBT = noAnswer('Retries ran out, and no reply showed whether a server had accepted the message.');

/** A transient bounce for each recipient that was still pending when retries ran out. */
export function eventsOfExpiry(
  recipients: readonly RecipientProgress[],
  at: number,
  outcomes: readonly RecipientOutcome[] = [],
): readonly RecordedEvent[] {
  return recipients.flatMap((one, recipient) => {
    if (one.status !== 'pending') return [];
    const last = outcomes.find((outcome) => outcome.recipient === recipient)?.data;
    const data = {
      ...(one.inDoubt ? IN_DOUBT : NOT_TAKEN),
      ...last,
      type: 'Transient',
      subType: 'expired',
      ...(one.inDoubt && MARKED),
    };
    return [{ type: 'bounced' as const, recipient, at, data }];
  });
}

/** True when the report proves that the message arrived at a recipient in doubt. */
export const resolvesDoubt = (
  known: RecipientProgress | undefined,
  report: ReportReceived['report'],
): boolean => known?.status === 'pending' && known.inDoubt && reasonOfReport(report) === null;

/** The progress after a report about one recipient. */
export function afterReport(
  recipients: readonly RecipientProgress[],
  received: ReportReceived,
): readonly RecipientProgress[] {
  const { report } = received;
  const now = recipients[report.recipient];
  if (!now) return recipients;
  const { type, recipient } = report;
  const common = { lastEvent: type, ...undoubted(now) };
  if (type === 'delivered') return changed(recipients, recipient, { ...common, status: 'delivered' });
  const reason = reasonOfReport(report);
  if (reason !== null) return changed(recipients, recipient, { ...common, status: 'failed', reason });
  return changed(recipients, recipient, {
    ...common,
    ...(resolvesDoubt(now, report) ? { status: 'sent' } : {}),
    ...remembered(now, received),
  });
}
