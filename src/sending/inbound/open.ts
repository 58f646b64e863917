import type { Feedback } from '../../mail/inbound/feedback.ts';
import { openReportServer } from '../../mail/inbound/report-server.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import { tokenOf } from '../../mail/inbound/verp.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { isReturnToken } from '../emails/queries.ts';

export interface InboundParts {
  readonly host: string;
  readonly port: number;
  /** The host name in the greeting. */
  readonly name: string;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly mailReader: MailReader;
  record(feedback: readonly Feedback[], isVouched: boolean): Promise<void>;
}

/** The mailboxes that receive complaints besides the return path; RFC 2142 4 and 5 name two of them. */
const REPORTS = /^(abuse|postmaster|fbl|complaints)@/i;

/** Opens the listener. It refuses mail to any other address at RCPT. */
export const openInbound = ({ signer, logger, record, ...where }: InboundParts): Promise<SmtpServer> =>
  openReportServer({
    ...where,
    tls: null,
    onError: (error) => logger.debug({ err: error }, 'A connection to the inbound port broke.'),
    accepts: (address) => {
      const token = tokenOf(address);
      return token === null ? REPORTS.test(address) : isReturnToken(token, signer);
    },
    // Anybody can connect to this port, so only an address that was signed here identifies an email.
    onReport: (feedback) => record(feedback, false),
  });
