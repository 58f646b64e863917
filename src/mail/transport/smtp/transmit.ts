import { isAscii } from 'node:buffer';
import { envelopeAddress, needsSmtpUtf8 } from '../../compose/envelope.ts';
import { finishInSevenBit, finishPieces } from '../../compose/finish.ts';
import type { AskedReports } from '../../message/asked-reports.ts';
import { type Beginning, TakenBack } from '../begin.ts';
import { saysEnoughRecipients } from '../limits/limit-words.ts';
import type { SiteLimits } from '../limits/site-limits.ts';
import type { OutboundMessage, RecipientOutcome } from '../transport.ts';
import { outcomeOf, outcomeOfFailure, withoutReply } from './outcome.ts';
import { type Progress, type Session, SessionFailure } from './session.ts';
import type { SessionPool } from './session-pool.ts';

/** A message ready for SMTP. */
export interface Mail {
  readonly from: string;
  /** The recipients as given; the commands use their ASCII form. */
  readonly recipients: readonly string[];
  /** Its octets, behind each other. */
  readonly pieces: readonly Buffer[];
  /** The same for a server without 8BITMIME; null where that is not possible. */
  readonly inSevenBit: () => Promise<Buffer | null>;
  readonly needsSmtpUtf8: boolean;
  readonly reports: AskedReports | null;
  readonly isBulk: boolean;
}

/** Composes and signs a message. */
export const mailOf = async (message: OutboundMessage): Promise<Mail> => ({
  from: envelopeAddress(message.returnPath),
  recipients: message.recipients,
  pieces: await finishPieces(message),
  inSevenBit: () => finishInSevenBit(message),
  needsSmtpUtf8: needsSmtpUtf8(message),
  reports: message.reports ?? null,
  isBulk: message.isBulk === true,
});

/**
 * Sends over a session of `pool` to the server `remoteMta`; returns one outcome per recipient, in their
 * order. A mail that has more recipients than the server takes is sent in several transactions.
 */
export const transmit = async (
  mail: Mail,
  pool: SessionPool,
  site: SiteLimits,
  remoteMta: string,
  signal: AbortSignal,
  beginning: Beginning,
): Promise<RecipientOutcome[]> => {
  const outcomes = new Map<string, RecipientOutcome>();
  let left = mail.recipients;
  /**
   * The recipients that the server seems to take in a mail, until it takes the first of those that it
   * refused.
   */
  let seems: number | null = null;
  while (left.length > 0) {
    const recipients = left.slice(0, site.recipientsPerMail ?? left.length);
    const told = await once({ ...mail, recipients }, pool, remoteMta, signal, beginning).catch((error) => {
      // An attempt in which some recipients have an answer counts.
      if (!(error instanceof TakenBack) || outcomes.size === 0) throw error;
      return recipients.map((one) => withoutReply(one, 'deferred', WAITS, 'RateLimited', remoteMta));
    });
    // A recipient that is refused before another one is taken is not one too many.
    const surplus = told.length - 1 - told.findLastIndex((one) => !isSurplus(one));
    const isFirstTaken = told[0]?.outcome === 'accepted';
    if (seems !== null && isFirstTaken) site.refusedRecipient(seems);
    const isSome = surplus > 0 && surplus < recipients.length && !signal.aborted;
    seems = isSome ? recipients.length - surplus : null;
    if (surplus === 0) site.tookRecipients(recipients.length);
    const done = isSome ? told.slice(0, -surplus) : told;
    for (const one of done) outcomes.set(one.recipient, one);
    left = left.filter((recipient) => !outcomes.has(recipient));
  }
  return mail.recipients.flatMap((recipient) => outcomes.get(recipient) ?? []);
};

/** RFC 5321 4.5.3.1.10: the recipients that were too many are sent the mail again. */
const isSurplus = ({ outcome, response }: RecipientOutcome): boolean =>
  outcome === 'deferred' && saysEnoughRecipients(response);

const WAITS = 'The server takes no more mail at this moment';

const once = async (
  mail: Mail,
  pool: SessionPool,
  remoteMta: string,
  signal: AbortSignal,
  beginning: Beginning,
): Promise<RecipientOutcome[]> => {
  try {
    const progress = await pool.use(signal, (session) => over(session, mail, signal), beginning, mail.isBulk);
    return progress.map((one, index) => ({
      ...outcomeOf(one, remoteMta),
      recipient: mail.recipients[index] ?? '',
    }));
  } catch (error) {
    if (!(error instanceof SessionFailure)) throw error;
    return mail.recipients.map((recipient) => outcomeOfFailure(recipient, error, remoteMta));
  }
};

const over = async (session: Session, mail: Mail, signal: AbortSignal): Promise<readonly Progress[]> => {
  const { from, pieces, needsSmtpUtf8, reports } = mail;
  const recipients = mail.recipients.map(envelopeAddress);
  const refuse = (reply: string): readonly Progress[] =>
    recipients.map((recipient) => ({ recipient, step: 'MAIL', reply, problem: '' }));
  const { smtpUtf8, dsn } = session.extensions;
  if (needsSmtpUtf8 && !smtpUtf8) return refuse(NO_SMTPUTF8);
  // RFC 6531 3.1: a server with SMTPUTF8 has 8BITMIME, whether it says so or not.
  const takesEightBit = session.extensions.eightBitMime || smtpUtf8;
  const isSevenBit = pieces.every((piece) => isAscii(piece));
  const changed = takesEightBit || isSevenBit ? null : await mail.inSevenBit();
  if (!takesEightBit && !isSevenBit && changed === null) return refuse(NO_8BITMIME);
  const needsEightBit = !isSevenBit && changed === null;
  const envelope = { from, recipients, needsSmtpUtf8, needsEightBit, reports };
  const progress = await session.transmit(envelope, changed ? [changed] : pieces, signal);
  const isUnreported = reports?.notify?.includes('SUCCESS') === true && !dsn;
  return isUnreported ? progress.map((one) => ({ ...one, isUnreported: true as const })) : progress;
};

// RFC 6531 3.4: the client must refuse by itself, because the server would garble the address.
const NO_SMTPUTF8 = '553 5.6.7 The server does not support SMTPUTF8, which an address of this message needs';
// RFC 6152 3: a server that does not announce it may cut the eighth bit.
const NO_8BITMIME = '554 5.6.3 The server does not support 8BITMIME, which the content of this message needs';
