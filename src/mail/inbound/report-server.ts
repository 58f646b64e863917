import type { MailReader } from '../reading/mail-reader.ts';
import type { Feedback } from './feedback.ts';
import { HeadTailBuffer } from './message-buffer.ts';
import { openSmtpServer, Refusal, type SmtpServer, type SmtpServerOptions, takeIn } from './smtp-server.ts';

/** The options of the listener for bounces and complaints. */
export interface ReportServerOptions extends SmtpServerOptions {
  /**
   * True for an address of ours: a return path, or the address for complaints. Any other is refused, so that this is no open
   * relay.
   */
  readonly accepts: (address: string) => boolean;
  readonly mailReader: Pick<MailReader, 'report'>;
  /**
   * Called with the feedback of each mail before it is acknowledged. When it rejects, the sender is asked to try again.
   */
  readonly onReport: (feedback: readonly Feedback[]) => Promise<void>;
}

/** A bounce may carry the whole message that it is about. */
const LARGEST = 32 * 1024 * 1024;

/** The octets that are kept of a report, which anybody can send. Its machine-readable part has a few KiB, the text some more. */
const KEPT = { head: 192 * 1024, tail: 64 * 1024 };

/**
 * Listens for reports (RFC 3464, RFC 5965, and the fixed forms of servers that write neither). Any other mail is accepted: it is told
 * as unread where it came to a return path from a null sender, and dropped otherwise.
 */
export const openReportServer = ({
  accepts,
  mailReader,
  onReport,
  ...options
}: ReportServerOptions): Promise<SmtpServer> =>
  openSmtpServer(options, (budget) => ({
    disabledCommands: ['AUTH', ...(options.tls ? [] : ['STARTTLS'])],
    size: LARGEST,
    onRcptTo: ({ address }, _session, done) => done(accepts(address) ? null : NOT_OURS),
    onData: (stream, { envelope, remoteAddress }, done) => {
      const reservation = budget.reserve(remoteAddress);
      const handle = async () => {
        const raw = await takeIn(stream, new HeadTailBuffer(KEPT), reservation);
        const recipients = envelope.rcptTo.map(({ address }) => address);
        const isFromNobody = envelope.mailFrom === false || envelope.mailFrom.address === '';
        const feedback = await mailReader.report(raw, recipients, isFromNobody);
        if (feedback.length > 0) await onReport(feedback);
      };
      handle()
        .finally(() => reservation.release())
        .then(
          () => done(null, '2.0.0 Thank you'),
          (error) => done(error instanceof Refusal ? error : TRY_AGAIN),
        );
    },
  }));

const NOT_OURS = new Refusal(550, '5.1.1 No such mailbox here');
const TRY_AGAIN = new Refusal(451, '4.3.0 Cannot take this now, please try again');
