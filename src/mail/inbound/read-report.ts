import type { Attachment, Email } from 'postal-mime';
import { textFromHtml } from '../content/text-part.ts';
import { endOfHeader } from '../raw/header-editor.ts';
import { parseMessage, REPORT_LIMITS } from '../raw/repair/parsable.ts';
import { originalSender, readComplaintReport } from './complaint-report.ts';
import { readDeliveryReport, readRejection, type Surroundings } from './delivery-report.ts';
import type { Feedback, Reference } from './feedback.ts';
import { type Fields, readFields } from './fields.ts';
import { readPlainReport } from './plain-report.ts';
import { tokenOf } from './verp.ts';

/**
 * Reads a report, with one fact for each recipient. `recipients` are the envelope recipients of the report;
 * `isFromNobody` says that its envelope sender is null (RFC 5321 4.5.5). A mail with a null sender that came
 * to a return path, and is no report that can be read, is `unread`; any other mail gives nothing,
 * such as spam. It never throws.
 */
export const readReport = async (
  raw: Buffer,
  recipients: readonly string[],
  isFromNobody = false,
): Promise<Feedback[]> => {
  const email = await parseMessage(raw, REPORT_LIMITS);
  if (email === null) return [];
  const delivery = part(email, /^message\/(global-)?delivery-status$/);
  const header = returnedHeader(email);
  const reference = referenceOf(header, recipients);
  const around = surroundingsOf(email, raw);
  if (delivery !== null && NAMES_RECIPIENT.test(delivery))
    return firstOfEach(readDeliveryReport(delivery, reference, around));
  const complaint = part(email, /^message\/feedback-report$/);
  if (complaint !== null) {
    const sender = originalSender(complaint);
    const named = sender === null ? reference : referenceOf(header, [sender, ...recipients]);
    return readComplaintReport(complaint, named);
  }
  const ofOutlook = complaintOfOutlook(email, header, recipients);
  if (ofOutlook !== null) return [ofOutlook];
  if (!isFromNobody || !recipients.some((address) => tokenOf(address) !== null)) return [];
  const notification = part(email, /^message\/(global-)?disposition-notification$/);
  // Mail that was read or deleted has arrived (RFC 8098), unless a filter of the recipient refused it.
  if (notification !== null)
    return isRejection(email, notification) ? [readRejection(notification, reference, around.text)] : [];
  const damaged = damagedReport(email, raw, reference, around);
  if (damaged.length > 0) return firstOfEach(damaged);
  const failed = email.headers.find(({ key }) => key === 'x-failed-recipients')?.value ?? null;
  const failures = readPlainReport(around, failed, reference);
  if (failures.length > 0) return firstOfEach(failures);
  return [{ kind: 'unread', subject: email.subject ?? '', reference, recipient: null }];
};

/**
 * True for the answer of `reject` in a Sieve filter, which deletes the mail (RFC 5429 2.2), as Dovecot and
 * Cyrus mark it.
 */
const isRejection = ({ headers }: Email, notification: string): boolean =>
  headers.some(({ key, value }) => key === 'auto-submitted' && /^auto-replied \(rejected\)/i.test(value)) &&
  /;\s*deleted\b/i.test(readFields(notification)[0]?.get('disposition') ?? '');

/** True for a report with a block about a recipient (RFC 3464 2.3). Some have none. */
const NAMES_RECIPIENT = /^(?:action|(?:final|original)-recipient)[ \t]*:/im;

const surroundingsOf = (email: Email, raw: Buffer): Surroundings => {
  const at = Date.parse(email.date ?? '');
  return {
    text: wordsOf(email, raw),
    subject: email.subject ?? '',
    date: Number.isNaN(at) ? null : at,
  };
};

/**
 * The human-readable words: those of the html where there is no other part, and the body as it is where a
 * wrong boundary hides all parts.
 */
const wordsOf = ({ text = '', html = '', attachments }: Email, raw: Buffer): string => {
  if (text.trim() !== '') return text;
  if (html !== '') return textFromHtml(html);
  return attachments.length === 0 ? bodyOf(raw) : '';
};

const LONGEST_BODY = 65_536;

const bodyOf = (raw: Buffer): string => {
  const begin = endOfHeader(raw);
  return raw.toString('utf8', begin, begin + LONGEST_BODY).replace(/\r\n/g, '\n');
};

/**
 * Reads a report whose boundary is wrong, or whose part has another type: its fields are lines of the body.
 */
const damagedReport = (
  { headers }: Email,
  raw: Buffer,
  reference: Reference,
  around: Surroundings,
): Feedback[] => {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (!/^multipart\/report\b/i.test(type)) return [];
  const body = bodyOf(raw);
  const begin = body.search(/^(?:reporting-mta|(?:final|original)-recipient)[ \t]*:/im);
  if (begin === -1) return [];
  const [status = ''] = body.slice(begin).split(/^--/m, 1);
  return readDeliveryReport(status, reference, { ...around, text: body.slice(0, begin) });
};

/** Outlook.com attaches the mail that a person reported as junk, and names the recipient in a field of it. */
const complaintOfOutlook = (
  email: Email,
  header: Fields | undefined,
  recipients: readonly string[],
): Feedback | null => {
  const recipient = header?.get('x-hmxmroriginalrecipient');
  if (recipient === undefined || !/^\s{0,4}complaint about message from /i.test(email.subject ?? ''))
    return null;
  const sender = /\bsmtp\.mailfrom=([^\s;]{1,320})/i.exec(header?.get('authentication-results') ?? '')?.[1];
  const reference = referenceOf(header, [...(sender === undefined ? [] : [sender]), ...recipients]);
  return { kind: 'complained', feedbackType: 'abuse', userAgent: null, reference, recipient };
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

const part = (email: Email, type: RegExp): string | null => {
  const found = email.attachments.find(({ mimeType }) => type.test(mimeType));
  return found === undefined ? null : textOf(found);
};

const textOf = ({ content }: Attachment): string =>
  typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString('utf8');

/** The header of the message that came back. */
const returnedHeader = (email: Email): Fields | undefined => {
  const returned = part(email, /^(message\/(global|rfc822)|text\/rfc822-headers|message\/global-headers)$/);
  return returned === null ? undefined : readFields(returned)[0];
};

const referenceOf = (header: Fields | undefined, recipients: readonly string[]): Reference => {
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
