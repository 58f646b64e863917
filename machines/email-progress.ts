import type { ReportReceived } from './email-context.ts';
import type { FailureReason, RecipientOutcome, RecipientProgress, RecordedEvent } from './email-recipient.ts';
import { remembered } from './email-repetition.ts';

/** Where an email with these recipients rests once no attempt is running or due. */
export type RestingState = 'deferred' | 'sent' | 'delivered' | 'failed';

/** The state that the recipients' progress amounts to. */
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

/** The outcomes that count: of recipients still waiting for one, and of each the first. */
export function telling(
  recipients: readonly RecipientProgress[],
  outcomes: readonly RecipientOutcome[],
): readonly RecipientOutcome[] {
  const told = new Set<number>();
  return outcomes.filter(({ recipient }) => {
    if (told.has(recipient) || recipients[recipient]?.status !== 'pending') return false;
    told.add(recipient);
    return true;
  });
}

/** The progress after an attempt; when `expired`, whoever is still pending has failed. */
export function afterAttempt(
  recipients: readonly RecipientProgress[],
  outcomes: readonly RecipientOutcome[],
  expired: boolean,
): readonly RecipientProgress[] {
  let next = recipients;
  for (const { recipient, outcome, reason } of telling(recipients, outcomes)) {
    if (outcome === 'accepted')
      next = changed(next, recipient, { status: 'sent', lastEvent: 'sent', inDoubt: false });
    if (outcome === 'unknown') next = changed(next, recipient, { inDoubt: true });
    if (outcome === 'refused')
      next = changed(next, recipient, {
        status: 'failed',
        lastEvent: 'bounced',
        reason: reason ?? 'bounced',
        inDoubt: false,
      });
    if (outcome === 'suppressed')
      next = changed(next, recipient, { status: 'failed', reason: 'suppressed', inDoubt: false });
  }
  return expired ? afterExpiry(next) : next;
}

/** The progress once retries have run out. Who may have got the message still may. */
export function afterExpiry(recipients: readonly RecipientProgress[]): readonly RecipientProgress[] {
  return recipients.map((one) =>
    one.status === 'pending' ? { ...one, status: 'failed', lastEvent: 'bounced', reason: 'expired' } : one,
  );
}

/** Whom the next attempt is for: whoever waits, unless a second copy might reach them and none is to. */
export const mayBeTried = (
  { status, inDoubt }: Pick<RecipientProgress, 'status' | 'inDoubt'>,
  holdsDoubt: boolean,
): boolean => status === 'pending' && !(inDoubt && holdsDoubt);

/** The progress when an attempt is lost: it may have reached anybody it was for. The simulator reaches nobody. */
export const afterLoss = (recipients: readonly RecipientProgress[]): readonly RecipientProgress[] =>
  recipients.map((one) =>
    one.status === 'pending' && one.simulate === null ? { ...one, inDoubt: true } : one,
  );

/** The events that an attempt causes, in the recipients' order. */
export function eventsOfAttempt(
  recipients: readonly RecipientProgress[],
  outcomes: readonly RecipientOutcome[],
  at: number,
  expired: boolean,
): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  for (const { recipient, outcome, data } of telling(recipients, outcomes)) {
    if (outcome === 'accepted') events.push({ type: 'sent', recipient, at, data });
    if (outcome === 'refused')
      events.push({ type: 'bounced', recipient, at, data: { type: 'Permanent', ...data } });
  }
  return expired
    ? [...events, ...eventsOfExpiry(afterAttempt(recipients, outcomes, false), at, outcomes)]
    : events;
}

/** What a bounce says where no server has said why: a bounce has all of its members, whatever caused it. */
const NO_ANSWER = {
  smtpCode: null,
  enhancedCode: null,
  message: 'Retries ran out before any server took the message.',
  remoteMta: null,
};

/** A transient bounce for each recipient that was still waiting when retries ran out. */
export function eventsOfExpiry(
  recipients: readonly RecipientProgress[],
  at: number,
  outcomes: readonly RecipientOutcome[] = [],
): readonly RecordedEvent[] {
  return recipients.flatMap((one, recipient) => {
    if (one.status !== 'pending') return [];
    const last = outcomes.find((outcome) => outcome.recipient === recipient)?.data;
    const data = { ...NO_ANSWER, ...last, type: 'Transient', subType: 'expired' };
    return [{ type: 'bounced' as const, recipient, at, data }];
  });
}

/** Whether the report says that the message arrived where nobody knew that it had. */
export const resolvesDoubt = (
  known: RecipientProgress | undefined,
  { type, permanent }: ReportReceived['report'],
): boolean => known?.status === 'pending' && known.inDoubt && !(type === 'bounced' && permanent === true);

/** The progress after a report about one recipient that came in later. */
export function afterReport(
  recipients: readonly RecipientProgress[],
  received: ReportReceived,
): readonly RecipientProgress[] {
  const { report } = received;
  const now = recipients[report.recipient];
  if (!now) return recipients;
  const { type, recipient } = report;
  const met = { lastEvent: type, inDoubt: false };
  if (type === 'delivered') return changed(recipients, recipient, { ...met, status: 'delivered' });
  if (type === 'bounced' && report.permanent === true)
    return changed(recipients, recipient, { ...met, status: 'failed', reason: 'bounced' });
  return changed(recipients, recipient, {
    ...met,
    ...(resolvesDoubt(now, report) ? { status: 'sent' } : {}),
    ...remembered(now, received),
  });
}
