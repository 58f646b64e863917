import type { SMTPServerSession } from 'smtp-server';
import { clientKey } from '../../platform/config/client-address.ts';
import { leaveOf } from '../inbound/connection.ts';
import type { Feedback } from '../inbound/feedback.ts';
import { FullBuffer, HeadTailBuffer } from '../inbound/message-buffer.ts';
import { takeChunks } from '../inbound/port/chunking.ts';
import { GuessLimit } from '../inbound/port/guess-limit.ts';
import { tlsOf } from '../inbound/port/session-tls.ts';
import {
  NO_EXTENSIONS,
  openSmtpServer,
  Refusal,
  type SmtpServer,
  type SmtpServerOptions,
  takeIn,
} from '../inbound/smtp-server.ts';
import { tokenOf } from '../inbound/verp.ts';
import { LARGEST_HEADER } from '../raw/header-editor.ts';
import type { MailReader } from '../reading/mail-reader.ts';
import { fieldsOf, hasLargeHeader, headerFacts, isReport, LineEnds, withSingleReturns } from './header.ts';

/** A message for recipients that routes take. */
export interface IncomingMessage<Taken> {
  readonly raw: Buffer;
  /** Empty for a null sender. */
  readonly envelopeFrom: string;
  readonly taken: readonly Taken[];
  /** The address of the client. */
  readonly client: string;
  /** The name that the client gave itself; '' when it gave none. */
  readonly helo: string;
  /** The protocol by its name in trace fields (RFC 3848). */
  readonly protocol: string;
  /** The TLS of the connection; null in clear text. */
  readonly tls: string | null;
}

/**
 * Takes mail to addresses that have one purpose, such as those for aggregate reports (RFC 9990, RFC 8460).
 */
export interface PurposeDoor {
  takes(address: string): boolean | Promise<boolean>;
  /**
   * Called before the mail is acknowledged; false where it is not for that purpose. A `Refusal` is answered
   * as it is; when it rejects otherwise, the sender is asked to try again.
   */
  take(mail: PurposeMail): Promise<boolean>;
}

/** A mail to such addresses, and the connection that it came by. */
export interface PurposeMail {
  readonly raw: Buffer;
  readonly recipients: readonly string[];
  readonly client: string;
  readonly helo: string;
  /** The envelope sender; '' for the null one. */
  readonly from: string;
}

/** The options of the listener for received mail, bounces and complaints. */
export interface InboundServerOptions<Taken> extends SmtpServerOptions {
  /**
   * True for an address that takes reports: a return path, or one for complaints. @throws when that cannot be
   * told now
   */
  readonly takesReports: (address: string) => boolean | Promise<boolean>;
  /**
   * The takers of mail to an address, in any workspace; empty when nothing takes it. @throws a `Refusal`,
   * which is answered as it is, or when that cannot be told now
   */
  readonly takersOf: (address: string) => Promise<readonly Taken[]>;
  /**
   * False for recipients of whom one transaction cannot have both; the sender brings the second in another
   * one.
   */
  readonly isTogether: (one: readonly Taken[], other: readonly Taken[]) => boolean;
  /** The same for all takers of one route. */
  readonly routeOf: (taker: Taken) => unknown;
  readonly mailReader: Pick<MailReader, 'report'>;
  /**
   * Called with the feedback of each report before it is acknowledged. When it rejects, the sender is asked
   * to try again.
   */
  readonly onReport: (feedback: readonly Feedback[]) => Promise<void>;
  /**
   * Stores a message before it is acknowledged; a `Refusal` is answered as it is, any other rejection as 452.
   */
  readonly onMessage: (message: IncomingMessage<Taken>) => Promise<void>;
  /** The doors for addresses with one purpose; the first one that takes an address has it. */
  readonly doors?: readonly PurposeDoor[];
  readonly guesses?: GuessLimit;
}

/** A bounce may carry the whole message that it is about. */
export const LARGEST_INBOUND = 32 * 1024 * 1024;
/** Aggregate reports are compressed: those of the largest receivers have some hundred KiB. */
export const LARGEST_AGGREGATE = 10 * 1024 * 1024;
/** RFC 5321 4.5.3.1.8: a server takes at least a hundred. */
const MOST_RECIPIENTS = 100;
/**
 * The octets that are kept of a report, which anybody can send. Its machine-readable part has a few KiB, the
 * text some more.
 */
const KEPT = { head: 192 * 1024, tail: 64 * 1024 };

/**
 * Listens for mail from other servers: reports (RFC 3464, RFC 5965, and the fixed forms of servers that write
 * neither), and messages that routes take. Any other address is refused at RCPT, so that this is no open
 * relay and nothing is ever bounced. A message that no route takes and that is no report is refused after
 * DATA, so that no mail of a person is lost.
 */
export const openInboundServer = <Taken>({
  takesReports,
  takersOf,
  isTogether,
  routeOf,
  mailReader,
  onReport,
  onMessage,
  doors = [],
  guesses = new GuessLimit(),
  ...options
}: InboundServerOptions<Taken>): Promise<SmtpServer> => {
  /**
   * By the object of the recipient in the envelope: what RCPT has promised is kept, whatever changes until
   * the end of the message.
   */
  const takers = new WeakMap<object, readonly Taken[]>();
  /** The recipients that are return paths, or addresses for complaints. */
  const reporting = new WeakSet<object>();
  const doorOf = new WeakMap<object, PurposeDoor>();
  const doorFor = async (address: string): Promise<PurposeDoor | undefined> => {
    for (const door of doors) if (await door.takes(address)) return door;
    return;
  };
  /**
   * One reply is for all recipients: where a route takes the message and an address for reports does not, it
   * would be wrong for one.
   */
  const isOneReply = (one: readonly Taken[], other: readonly Taken[]): boolean =>
    one.length === 0 || other.length === 0 ? one.length === other.length : isTogether(one, other);
  const admit = async (
    recipient: { address: string },
    session: SMTPServerSession,
  ): Promise<Refusal | null> => {
    if (session.envelope.rcptTo.length >= MOST_RECIPIENTS) return TOO_MANY;
    if (guesses.isOver(session.remoteAddress)) return GUESSING;
    // RFC 5321 4.5.1: `<Postmaster>` alone is the one of this server.
    const isBare = !recipient.address.includes('@');
    if (isBare) recipient.address += `@${options.name}`;
    const found = await takersOf(recipient.address);
    // A person writes there, and no report comes that way: what no route takes would be refused after DATA.
    if (isBare && found.length === 0) return NO_POSTMASTER;
    const isForReports = await takesReports(recipient.address);
    const door = found.length > 0 || isForReports ? undefined : await doorFor(recipient.address);
    if (found.length > 0 || isForReports || door) {
      const [first] = session.envelope.rcptTo;
      if (first && !isOneReply(takers.get(first) ?? [], found)) return APART;
      takers.set(recipient, found);
      if (isForReports) reporting.add(recipient);
      if (door) doorOf.set(recipient, door);
      return null;
    }
    return (await guesses.unknown(session.remoteAddress, leaveOf(session))) ? UNKNOWN : GUESSING;
  };
  return openSmtpServer(options, (budget) => ({
    disabledCommands: ['AUTH'],
    size: LARGEST_INBOUND,
    extensions: {
      ...NO_EXTENSIONS,
      keywords: ['CHUNKING'],
      extend: (connection, arrival) => {
        takeChunks(connection, { largest: LARGEST_INBOUND, arrival, needsUser: false });
      },
    },
    onRcptTo: (recipient, session, done) => {
      admit(recipient, session).then(done, (error) => done(error instanceof Refusal ? error : NOT_NOW));
    },
    onData: (stream, session, done) => {
      const { envelope, remoteAddress, hostNameAppearsAs, transmissionType: protocol } = session;
      const reservation = budget.reserve(clientKey(remoteAddress));
      const recipients = envelope.rcptTo.map(({ address }) => address);
      const taken = envelope.rcptTo.flatMap((recipient) => takers.get(recipient) ?? []);
      const asked = doors.flatMap((door) => {
        const own = envelope.rcptTo.filter((recipient) => doorOf.get(recipient) === door);
        return own.length === 0 ? [] : [{ door, recipients: own.map(({ address }) => address) }];
      });
      const isForReports = envelope.rcptTo.some((recipient) => reporting.has(recipient));
      const envelopeFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      const handle = async () => {
        const isMessage = taken.length > 0;
        const isOfPurpose = asked.length > 0;
        const lineEnds = new LineEnds();
        const octets = await takeIn(
          stream,
          isMessage ? new StrictBuffer(lineEnds) : isOfPurpose ? new FullBuffer() : new HeadTailBuffer(KEPT),
          reservation,
          isOfPurpose ? LARGEST_AGGREGATE : LARGEST_INBOUND,
        );
        // A report and a leaving may have line ends of any kind: they are read, and not stored.
        const raw = isMessage ? lineEnds.withSingleReturns(octets) : (withSingleReturns(octets) ?? octets);
        if (raw === null) throw BARE_LINE_END;
        // CR CR LF is no empty line before it is one line end.
        if (isMessage && hasLargeHeader(raw)) throw LARGE_HEADER;
        let isTaken = isMessage;
        if (isForReports) {
          const feedback = await mailReader.report(shortened(raw), recipients, envelopeFrom === '');
          if (feedback.length > 0) await onReport(feedback);
          isTaken ||= feedback.length > 0 || isOfProgram(raw, recipients, envelopeFrom);
        }
        for (const { door, recipients: own } of asked) {
          const isUsed = await door.take({
            raw,
            recipients: own,
            client: remoteAddress,
            helo: hostNameAppearsAs || '',
            from: envelopeFrom,
          });
          isTaken ||= isUsed;
        }
        if (!isTaken) throw REPORTS_ALONE;
        if (!isMessage) return;
        await onMessage({
          raw,
          envelopeFrom,
          taken,
          client: remoteAddress,
          helo: hostNameAppearsAs || '',
          protocol,
          tls: tlsOf(session),
        });
        guesses.stored(remoteAddress, new Set(taken.map(routeOf)).size);
      };
      handle()
        .finally(() => reservation.release())
        .then(
          () => done(null, '2.0.0 Thank you'),
          (error) => done(error instanceof Refusal ? error : taken.length > 0 ? NOT_STORED : TRY_AGAIN),
        );
    },
  }));
};

/**
 * True for mail that says nothing and is no person's: a report without a fact, or what programs send to a
 * return path.
 */
function isOfProgram(raw: Buffer, recipients: readonly string[], envelopeFrom: string): boolean {
  const fields = fieldsOf(raw);
  if (isReport(fields)) return true;
  const isAtReturnPath = recipients.some((address) => tokenOf(address) !== null);
  return isAtReturnPath && (envelopeFrom === '' || headerFacts(fields).isAutomatic);
}

/** Keeps the whole message, and looks at its line ends while it arrives. */
class StrictBuffer extends FullBuffer {
  constructor(private readonly ends: LineEnds) {
    super();
  }

  override add(chunk: Buffer): void {
    this.ends.add(chunk);
    super.add(chunk);
  }
}

/** As much of a whole message as a report's reader takes. */
export function shortened(raw: Buffer): Buffer {
  if (raw.length <= KEPT.head + KEPT.tail) return raw;
  const kept = new HeadTailBuffer(KEPT);
  kept.add(raw);
  return kept.message();
}

const UNKNOWN = new Refusal(550, '5.1.1 No such mailbox here');
const NO_POSTMASTER = new Refusal(
  550,
  '5.1.1 No route takes mail to the postmaster of this server, please write to postmaster@ the domain that you mean',
);
/** The library ends the connection after it (RFC 5321 3.8). */
const GUESSING = new Refusal(
  421,
  '4.7.0 Too many unknown recipients from your address, please come again in ten minutes',
);
const TOO_MANY = new Refusal(452, `4.5.3 Too many recipients, at most ${MOST_RECIPIENTS} a message`);
/** RFC 5321 4.5.3.1.10: the client sends the others in another transaction. */
const APART = new Refusal(
  452,
  '4.5.3 This recipient needs a transaction apart, please send it again for them',
);
const REPORTS_ALONE = new Refusal(
  550,
  '5.7.1 This address takes reports alone (bounces, complaints, DMARC, TLS), and this is none that can be read; write to another address',
);
const NOT_NOW = new Refusal(452, '4.3.1 Cannot look up this mailbox now, please try again');
const NOT_STORED = new Refusal(452, '4.3.1 Cannot store this now, please try again');
const TRY_AGAIN = new Refusal(451, '4.3.0 Cannot take this now, please try again');
const LARGE_HEADER = new Refusal(552, `5.3.4 The header is too large: it may have ${LARGEST_HEADER} octets`);
/** RFC 5321 2.3.8; Postfix answers so too (smtpd_forbid_bare_newline). */
const BARE_LINE_END = new Refusal(550, '5.5.2 A line ends with CR or LF alone; lines end with CRLF');
