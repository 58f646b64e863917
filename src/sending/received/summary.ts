import type { NamedMailbox } from '../../mail/raw/raw-mail.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { formatAddress } from '../../platform/text/address.ts';

/** The part of a message that its rows hold, and lists show. */
export interface ReceivedSummary {
  readonly from: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string | null;
  readonly date: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
}

/** The summary of a message as it is, and as its rows hold it. */
export interface MessageSummary {
  readonly whole: ReceivedSummary;
  readonly kept: ReceivedSummary;
  readonly isCut: boolean;
}

/**
 * Octets of a summary in a row: every recipient of a message has a row, and one statement writes up to a
 * hundred.
 */
export const LARGEST_SUMMARY = 8_192;
/** Characters of a subject where the whole one leaves too little for the addresses. */
const SHORT_SUBJECT = 250;

const octetsOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const named = (mailboxes: readonly NamedMailbox[]): readonly string[] => mailboxes.map(formatAddress);

/**
 * The summary of a message as it is, and as its rows hold it: the first addresses of each list, as far as
 * they fit.
 */
export function summaryOf({
  from,
  to,
  cc,
  replyTo,
  subject,
  date,
  messageId,
  inReplyTo,
}: ReceivedMail): MessageSummary {
  const whole: ReceivedSummary = {
    from: from ? formatAddress(from) : null,
    to: named(to),
    cc: named(cc),
    replyTo: named(replyTo),
    subject,
    date,
    messageId,
    inReplyTo,
  };
  if (octetsOf(whole) <= LARGEST_SUMMARY) return { whole, kept: whole, isCut: false };
  const none = { ...whole, to: [], cc: [], replyTo: [] };
  const short =
    octetsOf(none) <= LARGEST_SUMMARY / 2
      ? none
      : { ...none, subject: subject?.slice(0, SHORT_SUBJECT).toWellFormed() ?? null };
  let left = LARGEST_SUMMARY - octetsOf(short);
  const first = (list: readonly string[]): readonly string[] => {
    const end = list.findIndex((one) => {
      left -= octetsOf(one) + 1;
      return left < 0;
    });
    return end === -1 ? list : list.slice(0, end);
  };
  const kept = { ...short, replyTo: first(whole.replyTo), to: first(whole.to), cc: first(whole.cc) };
  return { whole, kept, isCut: true };
}
