import type { MailReader } from '../reading/mail-reader.ts';
import type { Feedback } from './feedback.ts';
import { HeadTailBuffer } from './message-buffer.ts';
import { openSmtpServer, Refusal, type SmtpServer, type SmtpServerOptions, takeIn } from './smtp-server.ts';

/** Where bounces and complaints arrive. */
export interface ReportServerOptions extends SmtpServerOptions {
  /**
   * Whether mail for this address is ours to take: a return path, or where complaints are sent. Anything else is
   * refused: no open relay.
   */
  readonly accepts: (address: string) => boolean;
  readonly mailReader: Pick<MailReader, 'report'>;
  /**
   * Runs once per mail with what it said, before it is acknowledged. When it rejects, the sender is asked to try again.
   */
  readonly onReport: (feedback: readonly Feedback[]) => Promise<void>;
}

/** A bounce may carry the whole message that it is about. */
const LARGEST = 32 * 1024 * 1024;

/** What is kept of one: anybody can send them. The parts that say something take a few KiB, one for people some more. */
const KEPT = { head: 192 * 1024, tail: 64 * 1024 };

/**
 * Listens for reports (RFC 3464, RFC 5965). Mail that is none is taken and dropped: an answer to a robot needs no
 * answer.
 */
export const openReportServer = ({
  accepts,
  mailReader,
  onReport,
  ...options
}: ReportServerOptions): Promise<SmtpServer> =>
  openSmtpServer(options, (room) => ({
    disabledCommands: ['AUTH', ...(options.tls ? [] : ['STARTTLS'])],
    size: LARGEST,
    onRcptTo: ({ address }, _session, done) => done(accepts(address) ? null : NOT_OURS),
    onData: (stream, { envelope, remoteAddress }, done) => {
      const place = room.enter(remoteAddress);
      const handle = async () => {
        const raw = await takeIn(stream, new HeadTailBuffer(KEPT), place);
        const recipients = envelope.rcptTo.map(({ address }) => address);
        const feedback = await mailReader.report(raw, recipients);
        if (feedback.length > 0) await onReport(feedback);
      };
      handle()
        .finally(() => place.leave())
        .then(
          () => done(null, '2.0.0 Thank you'),
          (error) => done(error instanceof Refusal ? error : TRY_AGAIN),
        );
    },
  }));

const NOT_OURS = new Refusal(550, '5.1.1 No such mailbox here');
const TRY_AGAIN = new Refusal(451, '4.3.0 Cannot take this now, please try again');
