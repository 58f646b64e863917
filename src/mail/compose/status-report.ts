import { isAscii } from 'node:buffer';
import type { MessageReports } from '../message/asked-reports.ts';
import { dateText } from './fields.ts';

/** The news of a report (RFC 3464 2.3.3). */
export type ReportAction = 'failed' | 'delivered' | 'relayed';

/** A delivery status notification about one recipient. */
export interface StatusReport extends Pick<MessageReports, 'envelopeId'> {
  /** Names the report; the same in every attempt. */
  readonly id: string;
  /** The domain that it comes from. */
  readonly domain: string;
  readonly to: string;
  /** Epoch milliseconds. */
  readonly date: number;
  readonly arrivedAt: number;
  readonly reportingMta: string;
  readonly action: ReportAction;
  /** RFC 3463. */
  readonly status: string;
  readonly recipient: string;
  /** ORCPT without its encoding. */
  readonly originalRecipient: string | null;
  readonly remoteMta: string | null;
  /** The reply of the server, or a sentence of this service. */
  readonly diagnostic: string;
  /** True where a server said it. */
  readonly isReply: boolean;
  /** The message, or its header alone. */
  readonly returned: { readonly isWhole: boolean; readonly octets: Buffer };
}

const SUBJECTS: Readonly<Record<ReportAction, string>> = {
  failed: 'Your message was not delivered',
  delivered: 'Your message was delivered',
  relayed: 'Your message was passed on',
};

const SENTENCES: Readonly<Record<ReportAction, string>> = {
  failed: 'Your message could not be delivered to',
  delivered: 'Your message was delivered to',
  relayed: 'Your message was passed on to a server that sends no reports of success. It was for',
};

/** The report as a message (RFC 3462, RFC 3464), without signatures. */
export function composeReport(report: StatusReport): Buffer {
  const { id, domain, to, date, action, recipient, diagnostic, returned } = report;
  const boundary = `report-${id}`;
  const { isWhole, octets } = returned;
  const encoding = isAscii(octets) ? '7bit' : '8bit';
  const head = [
    `From: Mail Delivery System <MAILER-DAEMON@${domain}>`,
    `To: ${to}`,
    `Subject: ${SUBJECTS[action]}`,
    `Message-ID: <report.${id}@${domain}>`,
    `Date: ${dateText(date)}`,
    // RFC 3834 3.1: no answering machine answers it.
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    SENTENCES[action],
    '',
    `    ${ascii(recipient)}`,
    '',
    ...wrapped(ascii(diagnostic)),
    '',
    `--${boundary}`,
    'Content-Type: message/delivery-status',
    '',
    ...statusFields(report),
    '',
    `--${boundary}`,
    `Content-Type: ${isWhole ? 'message/rfc822' : 'text/rfc822-headers'}`,
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    '',
  ];
  const end = `${octets.toString('latin1').endsWith('\r\n') ? '' : '\r\n'}--${boundary}--\r\n`;
  return Buffer.concat([Buffer.from(head.join('\r\n')), octets, Buffer.from(end)]);
}

const statusFields = (report: StatusReport): readonly string[] => {
  const { envelopeId, reportingMta, arrivedAt, recipient, originalRecipient, action } = report;
  const { status, remoteMta, diagnostic, isReply } = report;
  return [
    `Reporting-MTA: dns; ${reportingMta}`,
    ...(envelopeId === null ? [] : [`Original-Envelope-Id: ${envelopeId}`]),
    `Arrival-Date: ${dateText(arrivedAt)}`,
    '',
    ...(originalRecipient === null
      ? []
      : [`Original-Recipient: ${ascii(originalRecipient.replace(';', '; '))}`]),
    `Final-Recipient: ${typed(recipient)}`,
    `Action: ${action}`,
    `Status: ${status}`,
    ...(remoteMta === null ? [] : [`Remote-MTA: dns; ${ascii(remoteMta)}`]),
    ...(isReply ? [wrapped(`Diagnostic-Code: smtp; ${ascii(diagnostic)}`).join('\r\n ')] : []),
  ];
};

/** RFC 6533 3: an address beyond ASCII has the type utf-8, which writes a character as `\x{FC}`. */
const typed = (address: string): string =>
  /\P{ASCII}/u.test(address)
    ? `utf-8; ${address.replace(/\P{ASCII}/gu, (one) => `\\x{${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`)}`
    : `rfc822; ${address}`;

/** On one line, and in ASCII. */
const ascii = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').replace(/\P{ASCII}/gu, '?');

/** Lines of at most 78 octets where there is white space (RFC 5322 2.1.1). */
const wrapped = (text: string): readonly string[] =>
  text
    .slice(0, 2_000)
    .match(/\S{900}|.{1,76}(?=\s|$)|\S+/g)
    ?.map((line) => line.trim()) ?? [''];
