import type { SMTPServerSession } from 'smtp-server';
import type { MessageReports, Notify, RecipientReports } from '../message/asked-reports.ts';

/**
 * The most recipients of a message that stays what it is or comes by SMTP: RFC 5321 4.5.3.1.8 has a server
 * take a hundred. Django, Nodemailer and aiosmtplib report no error for those beyond the limit. The return
 * path and the links of a copy have two digits for the place of its recipient
 * (src/sending/emails/send/return-token.ts).
 */
export const MOST_SUBMITTED = 100;

/** One recipient of a submission. */
export interface SubmittedRecipient extends RecipientReports {
  readonly address: string;
}

/** The envelope of a submission: MAIL, RCPT and their parameters. */
export interface SubmittedEnvelope extends MessageReports {
  /** Null for the null sender: nothing is ever sent back. */
  readonly sender: string | null;
  /** BODY=8BITMIME (RFC 6152). */
  readonly isEightBit: boolean;
  /** SMTPUTF8 (RFC 6531). */
  readonly isSmtpUtf8: boolean;
  readonly recipients: readonly SubmittedRecipient[];
}

/** The envelope of a session that has one. Its parameters were checked before (parameters.ts). */
export const submittedEnvelope = ({ envelope }: Pick<SMTPServerSession, 'envelope'>): SubmittedEnvelope => {
  const { mailFrom, rcptTo, dsn, bodyType, smtpUtf8 } = envelope;
  return {
    sender: mailFrom === false ? null : mailFrom.address || null,
    returned: (dsn?.ret ?? null) as SubmittedEnvelope['returned'],
    envelopeId: dsn?.envid ?? null,
    isEightBit: bodyType === '8bitmime',
    isSmtpUtf8: smtpUtf8 === true,
    recipients: rcptTo.map(({ address, dsn: asked }) => ({
      address,
      notify: notifyOf(asked?.notify),
      originalRecipient: asked?.orcpt ?? null,
    })),
  };
};

const notifyOf = (words: readonly string[] | undefined): readonly Notify[] | null =>
  words === undefined ? null : ([...new Set(words)].filter((word) => word !== 'NEVER') as Notify[]);
