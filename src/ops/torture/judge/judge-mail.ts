import type { Session } from '../../../engine/audit/session.ts';
import type { Violations } from './invariants.ts';
import { type MailRecord, mailNumberIn, recipientsAt } from './mail-record.ts';

/** Counts of received mail. */
export interface MailSeen {
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly again: number;
  /** Rows of received mail. */
  readonly stored: number;
}

const ROWS = `select r.id, r.summary ->> 'messageId' as "messageId", r.recipient, r.size, c.id is not null as "isWhole"
from received r left join received_contents c on c.id = r.content_id order by r.id`;

interface Row {
  readonly id: string;
  readonly messageId: string | null;
  readonly recipient: string;
  readonly size: number;
  readonly isWhole: boolean;
}

/**
 * Compares the received mail in the database with what was handed in: what was answered 250 is there, once
 * for each recipient.
 */
export async function judgeMail(
  session: Session,
  record: MailRecord,
  domain: string,
  violations: Violations,
): Promise<MailSeen> {
  const rows = await session.query<Row>(ROWS);
  const found = new Set<string>();
  for (const { id, messageId, recipient, size, isWhole } of rows) {
    const number = mailNumberIn(messageId);
    const mail = number === null ? undefined : record.mails[number];
    if (!mail) {
      violations.add('mailForeign', `${id} is ${messageId}, which was never handed in`);
      continue;
    }
    const key = `${mail.number} ${recipient}`;
    if (found.has(key)) violations.add('mailTwice', `${id} is a second copy of message ${key}`);
    found.add(key);
    if (!isWhole || size !== mail.raw.length)
      violations.add('mailLost', `${id} has ${isWhole ? size : 'no'} octets of message ${key}`);
  }
  for (const { number, isAcknowledged, refusal } of record.mails) {
    if (refusal !== null) violations.add('mailRefused', `message ${number}: ${refusal}`);
    const there = recipientsAt(domain).filter((recipient) => found.has(`${number} ${recipient}`)).length;
    if (isAcknowledged && there < recipientsAt(domain).length)
      violations.add('mailLost', `message ${number} was answered 250, and is there for ${there} recipients`);
    if (!isAcknowledged && there !== 0 && there !== recipientsAt(domain).length)
      violations.add('mailLost', `message ${number} is there for ${there} of its recipients`);
  }
  const acknowledged = record.mails.filter((mail) => mail.isAcknowledged).length;
  return {
    acknowledged,
    unanswered: record.mails.length - acknowledged,
    again: record.again,
    stored: rows.length,
  };
}
