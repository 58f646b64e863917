import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { originalSender, readComplaintReport } from './complaint-report.ts';
import { readDeliveryReport } from './delivery-report.ts';
import type { Feedback, Reference } from './feedback.ts';
import { readFields } from './fields.ts';
import { tokenOf } from './verp.ts';

/**
 * Reads a report, with one fact for each recipient; any other mail gives nothing, such as an automatic answer or spam.
 * `recipients` are the envelope recipients of the report. It never throws: unreadable mail gives nothing.
 */
export const readReport = async (raw: Buffer, recipients: readonly string[]): Promise<Feedback[]> => {
  const email = await PostalMime.parse(raw, LIMITS).catch(() => null);
  if (email === null) return [];
  const delivery = part(email, /^message\/(global-)?delivery-status$/);
  if (delivery !== null) return firstOfEach(readDeliveryReport(delivery, referenceOf(email, recipients)));
  const complaint = part(email, /^message\/feedback-report$/);
  if (complaint === null) return [];
  const sender = originalSender(complaint);
  return readComplaintReport(
    complaint,
    referenceOf(email, sender === null ? recipients : [sender, ...recipients]),
  );
};

/** The most recipients of an email. Without a limit, a report of 31 MiB had 591,013 items. */
const MOST_ITEMS = 50;

const firstOfEach = (feedback: readonly Feedback[]): Feedback[] => {
  const found = new Map<string | null, Feedback>();
  for (const one of feedback) {
    const recipient = one.recipient?.toLowerCase() ?? null;
    if (!found.has(recipient)) found.set(recipient, one);
    if (found.size === MOST_ITEMS) break;
  }
  return [...found.values()];
};

// The returned message stays whole: if it were parsed, its header could not be distinguished from the report's own.
const LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 20, maxHeadersSize: 262_144 };

const part = (email: Email, type: RegExp): string | null => {
  const found = email.attachments.find(({ mimeType }) => type.test(mimeType));
  return found === undefined ? null : textOf(found);
};

const textOf = ({ content }: Attachment): string =>
  typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString('utf8');

const referenceOf = (email: Email, recipients: readonly string[]): Reference => {
  const returned = part(email, /^(message\/(global|rfc822)|text\/rfc822-headers|message\/global-headers)$/);
  const [header] = returned === null ? [] : readFields(returned);
  const path = header?.get('return-path')?.replace(/^<(.*)>$/, '$1');
  const tokens = [...recipients, ...(path === undefined ? [] : [path])].map(tokenOf);
  const messageId = /<[^<>\s]+>/.exec(header?.get('message-id') ?? '')?.[0] ?? null;
  return {
    token: tokens.find((token) => token !== null) ?? null,
    emailId: null,
    providerId: null,
    messageId,
  };
};
