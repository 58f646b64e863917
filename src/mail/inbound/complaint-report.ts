import type { Feedback, Reference } from './feedback.ts';
import { addressValue, readFields } from './fields.ts';

/**
 * Reads an abuse report (RFC 5965) from its message/feedback-report part. Reports that are no complaints give nothing:
 * `not-spam` says the opposite, `auth-failure` (RFC 6591) is about signatures.
 */
export const readComplaintReport = (text: string, reference: Reference): Feedback[] => {
  const [fields] = readFields(text);
  const feedbackType = fields?.get('feedback-type')?.toLowerCase();
  if (feedbackType === undefined || NO_COMPLAINTS.has(feedbackType)) return [];
  const userAgent = fields?.get('user-agent') ?? null;
  const recipient = addressValue(fields, 'original-rcpt-to');
  return [{ kind: 'complained', feedbackType, userAgent, reference, recipient }];
};

const NO_COMPLAINTS: ReadonlySet<string> = new Set(['not-spam', 'auth-failure', 'dmarc']);

/** The envelope sender in the report, which identifies the message. */
export const originalSender = (text: string): string | null =>
  addressValue(readFields(text)[0], 'original-mail-from');
