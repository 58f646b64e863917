import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { originalSender, readComplaintReport } from './complaint-report.ts';
import { readDeliveryReport, type Surroundings } from './delivery-report.ts';
import type { Feedback, Reference } from './feedback.ts';
import { readFields } from './fields.ts';
import { readPlainReport } from './plain-report.ts';
import { tokenOf } from './verp.ts';

/**
 * Reads a report, with one fact for each recipient. `recipients` are the envelope recipients of the report; `isFromNobody` says that
 * its envelope sender is null (RFC 5321 4.5.5). A mail with a null sender that came to a return path, and is no report that can be
 * read, is told as `unread`; any other mail gives nothing, such as spam. It never throws.
 */
export const readReport = async (
  raw: Buffer,
  recipients: readonly string[],
  isFromNobody = false,
): Promise<Feedback[]> => {
  const email = await PostalMime.parse(raw, LIMITS).catch(() => null);
  if (email === null) return [];
  const delivery = part(email, /^message\/(global-)?delivery-status$/);
  const reference = referenceOf(email, recipients);
  if (delivery !== null) return firstOfEach(readDeliveryReport(delivery, reference, surroundingsOf(email)));
  const complaint = part(email, /^message\/feedback-report$/);
  if (complaint !== null) {
    const sender = originalSender(complaint);
    const named = sender === null ? reference : referenceOf(email, [sender, ...recipients]);
    return readComplaintReport(complaint, named);
  }
  if (!isFromNobody || !recipients.some((address) => tokenOf(address) !== null)) return [];
  // Mail that was read or deleted has arrived (RFC 8098).
  if (part(email, /^message\/(global-)?disposition-notification$/) !== null) return [];
  const names = email.headers.some(({ key }) => key === 'x-failed-recipients');
  const failures = readPlainReport(email.text ?? '', names, reference);
  if (failures.length > 0) return firstOfEach(failures);
  return [{ kind: 'unread', subject: email.subject ?? '', reference, recipient: null }];
};

const surroundingsOf = ({ text, subject, date }: Email): Surroundings => {
  const at = Date.parse(date ?? '');
  return { text: text ?? '', subject: subject ?? '', date: Number.isNaN(at) ? null : at };
};

/** The most recipients of an email. Without a limit, a report of 31 MiB had 591,013 items. */
const MOST_ITEMS = 50;

const firstOfEach = (feedback: readonly Feedback[]): Feedback[] => {
  const found = new Map<string, Feedback>();
  for (const one of feedback) {
    const failing = one.kind === 'bounced' ? one.failing : null;
    const key = `${one.kind} ${one.recipient ?? ''} ${failing ?? one.recipient ?? ''}`.toLowerCase();
    if (!found.has(key)) found.set(key, one);
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
