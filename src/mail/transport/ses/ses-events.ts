import { factOfType } from '../../inbound/complaint-report.ts';
import { bounceOf } from '../../inbound/diagnosis.ts';
import type { Fact, Feedback, Reference } from '../../inbound/feedback.ts';

/**
 * Reads the feedback about each recipient from a notification of SES; nothing for the kinds that are known
 * otherwise (send, open, click) or not used.
 */
export const readSesEvent = (message: string): Feedback[] => {
  const event = parse(message);
  const reference = referenceOf(event.mail);
  const each = (recipients: readonly Recipient[] | undefined, feedbackOf: (one: Recipient) => Fact) =>
    (recipients ?? []).map((one) => ({ ...feedbackOf(one), reference, recipient: one.emailAddress ?? null }));
  const { bounce, complaint, delivery, deliveryDelay } = event;
  if (bounce) return each(bounce.bouncedRecipients, (one) => bounced(bounce, one));
  if (complaint) return complained(complaint, each);
  if (delivery) {
    const said = { kind: 'delivered', response: delivery.smtpResponse ?? '', remoteMta: null } as const;
    return each(
      delivery.recipients?.map((emailAddress) => ({ emailAddress })),
      () => said,
    );
  }
  return each(deliveryDelay?.delayedRecipients, ({ diagnosticCode }) => ({
    kind: 'delayed',
    message: diagnosticCode ?? deliveryDelay?.delayType ?? 'Delayed',
    remoteMta: null,
  }));
};

interface Recipient {
  readonly emailAddress?: string;
  readonly status?: string;
  readonly diagnosticCode?: string;
}

interface Bounce {
  readonly bounceType?: string;
  readonly bounceSubType?: string;
  readonly reportingMTA?: string;
  readonly bouncedRecipients?: readonly Recipient[];
}

interface Complaint {
  readonly complaintFeedbackType?: string;
  readonly complaintSubType?: string | null;
  readonly userAgent?: string;
  readonly complainedRecipients?: readonly Recipient[];
}

interface SesEvent {
  readonly mail?: { readonly messageId?: string; readonly tags?: { readonly emailId?: readonly string[] } };
  readonly bounce?: Bounce;
  readonly complaint?: Complaint;
  readonly delivery?: { readonly recipients?: readonly string[]; readonly smtpResponse?: string };
  readonly deliveryDelay?: { readonly delayedRecipients?: readonly Recipient[]; readonly delayType?: string };
}

const bounced = (
  { bounceType, bounceSubType, reportingMTA }: Bounce,
  { status, diagnosticCode = '' }: Recipient,
): Fact => {
  const diagnostic = diagnosticCode.replace(/^[\w-]+;\s*/, '');
  const remoteMta = reportingMTA?.replace(/^dns;\s*/i, '') ?? null;
  const bounce = bounceOf({ status: status ?? null, diagnostic, remoteMta });
  // SES has seen more than this reply, so that its own verdict on permanence counts. A transient bounce is
  // not the end: automatic answers of people who are away come as such.
  const permanent = bounceType === 'Permanent';
  // "Suppressed": SES did not try, because the address is on its own suppression list.
  if (bounceSubType === 'Suppressed' || bounceSubType === 'OnAccountSuppressionList')
    return { ...bounce, permanent: true, ...NO_EMAIL };
  return { ...bounce, permanent, isFinal: permanent, suppresses: permanent && bounce.suppresses };
};

const NO_EMAIL = { fault: 'recipient', subType: 'NoEmail', suppresses: true } as const;

const complained = (
  { complaintFeedbackType, complaintSubType, userAgent, complainedRecipients }: Complaint,
  each: (recipients: readonly Recipient[] | undefined, feedbackOf: (one: Recipient) => Fact) => Feedback[],
): Feedback[] => {
  const fact = factOfType(complaintFeedbackType ?? complaintSubType ?? 'other', userAgent ?? null);
  return fact === null ? [] : each(complainedRecipients, () => fact);
};

const referenceOf = (mail: SesEvent['mail']): Reference => ({
  token: null,
  emailId: mail?.tags?.emailId?.[0] ?? null,
  providerId: mail?.messageId ?? null,
  messageId: null,
});

// The shape is Amazon's, as the signature proves; absent members are undefined.
const parse = (message: string): SesEvent => {
  try {
    const value: unknown = JSON.parse(message);
    return typeof value === 'object' && value !== null ? (value as SesEvent) : {};
  } catch {
    return {};
  }
};
