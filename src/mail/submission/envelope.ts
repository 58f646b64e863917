import type { SMTPServerSession } from 'smtp-server';

/** The reports that a client asks for about one recipient (RFC 3461, 4.1). An empty list is NEVER. */
export type Notify = 'SUCCESS' | 'FAILURE' | 'DELAY';

/** One recipient of a submission. */
export interface SubmittedRecipient {
  readonly address: string;
  /** Null where the client asks for nothing. */
  readonly notify: readonly Notify[] | null;
  /** ORCPT without its encoding: the type of the address, a semicolon, the address. */
  readonly originalRecipient: string | null;
}

/** What a client says of a message beside the message itself: MAIL, RCPT and their parameters. */
export interface SubmittedEnvelope {
  /** Null for the null sender: nothing is ever sent back. */
  readonly sender: string | null;
  /** How much of the message a report returns (RET); null where the client leaves that to the server. */
  readonly returned: 'FULL' | 'HDRS' | null;
  /** ENVID without its encoding. */
  readonly envelopeId: string | null;
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
    sender: (mailFrom && mailFrom.address) || null,
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
