import type { ComplaintReport, Feedback, OptOutReport, Reference } from './feedback.ts';
import { addressValue, readFields } from './fields.ts';

/**
 * The fact of a report of that type, in lower case. Reports that are no complaints give null: `not-spam` says
 * the opposite, `auth-failure` (RFC 6591) is about signatures. The two types of opting out are not registered
 * (RFC 5965 7.3), and their names say that the recipient leaves. Any other type that is not registered counts
 * as a complaint, as `other` does.
 */
export const factOfType = (
  feedbackType: string,
  userAgent: string | null,
): ComplaintReport | OptOutReport | null =>
  NO_COMPLAINTS.has(feedbackType)
    ? null
    : OPT_OUTS.has(feedbackType)
      ? { kind: 'optedOut' }
      : { kind: 'complained', feedbackType, userAgent };

/** Reads an abuse report (RFC 5965) from its message/feedback-report part. */
export const readComplaintReport = (text: string, reference: Reference): Feedback[] => {
  const [fields] = readFields(text);
  const feedbackType = fields?.get('feedback-type')?.toLowerCase();
  const fact =
    feedbackType === undefined ? null : factOfType(feedbackType, fields?.get('user-agent') ?? null);
  return fact === null ? [] : [{ ...fact, reference, recipient: addressValue(fields, 'original-rcpt-to') }];
};

const NO_COMPLAINTS: ReadonlySet<string> = new Set(['not-spam', 'auth-failure', 'dmarc']);
const OPT_OUTS: ReadonlySet<string> = new Set(['opt-out', 'opt-out-list']);

/** The envelope sender in the report, which identifies the message. */
export const originalSender = (text: string): string | null =>
  addressValue(readFields(text)[0], 'original-mail-from');
