import type { ReceivedMessage } from '../../mail/authentication/check-sender.ts';
import type { SenderChecks } from '../../mail/authentication/sender-checks.ts';
import type { AuthenticationResult } from '../../mail/authentication/sender-results.ts';
import type { Feedback } from '../../mail/inbound/feedback.ts';
import { Refusal, type SmtpServer } from '../../mail/inbound/smtp-server.ts';
import { tokenOf } from '../../mail/inbound/verp.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { MOST_HOPS } from '../../mail/received/header.ts';
import { type IncomingMessage, openInboundServer } from '../../mail/received/inbound-server.ts';
import { within } from '../../platform/async/deadline.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { isReturnToken } from '../emails/queries.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import { readRecipient, routeFor } from '../inbound-routes/queries.ts';
import type { ReceivedApi, TakenRecipient } from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';

export interface InboundParts extends ReceivedApi, InboundRoutesApi {
  readonly host: string;
  readonly port: number;
  /** The host name in the greeting. */
  readonly name: string;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly mailReader: Pick<MailReader, 'report' | 'received'>;
  readonly senderChecks: Pick<SenderChecks, 'check'>;
  readonly reports: ReportsApi;
  record(feedback: readonly Feedback[], isVouched: boolean): Promise<void>;
}

/** The mailboxes that receive complaints besides the return path; RFC 2142 4 and 5 name two of them. */
const REPORTS = /^(abuse|postmaster|fbl|complaints)@/i;

/** A DNS record that is gone for a while must not bounce the mail of a domain. */
const NOT_PROVEN = new Refusal(451, '4.3.0 This domain is not verified now, please try again later');

const LOOP = new Refusal(
  554,
  `5.4.6 The message has more than ${MOST_HOPS} Received fields: it runs in a circle between servers`,
);

/** Opens the listener. It refuses mail to any other address at RCPT. */
export const openInbound = ({
  signer,
  logger,
  record,
  receive,
  receivingRoutes,
  reports,
  mailReader,
  senderChecks,
  ...where
}: InboundParts): Promise<SmtpServer> =>
  openInboundServer<TakenRecipient>({
    ...where,
    mailReader,
    tls: null,
    onError: (error) => logger.debug({ err: error }, 'A connection to the inbound port broke.'),
    takesReports: (address) => {
      const token = tokenOf(address);
      return token === null ? REPORTS.test(address) : isReturnToken(token, signer);
    },
    takersOf: async (address) => {
      const token = tokenOf(address);
      const recipient = readRecipient(address);
      // A return path is no address of a route, whichever domain it is at.
      if (!recipient || (token !== null && isReturnToken(token, signer))) return [];
      const routes = await receivingRoutes.of(recipient.domain);
      const byWorkspace = Map.groupBy(routes, ({ workspaceId }) => workspaceId);
      const isProven = routes.some((route) => route.isProven);
      const taken = [...byWorkspace.values()].flatMap((own) => {
        // A workspace that has proven a domain leaves no other a say about its addresses.
        const route = routeFor(
          own.filter((one) => one.isProven === isProven),
          recipient,
        );
        return route ? [{ route, recipient }] : [];
      });
      if (taken.length > 0 && !isProven) throw NOT_PROVEN;
      return taken;
    },
    // Anybody can connect to this port, so only an address that was signed here identifies an email.
    onReport: (feedback) => record(feedback, false),
    onMessage: (message) => take({ mailReader, senderChecks, receive }, message),
    aggregates: { takes: reports.takesReports, take: reports.takeReport },
  });

/** Reads a message and stores it for everyone whom it came to. */
async function take(
  { mailReader, senderChecks, receive }: Pick<InboundParts, 'mailReader' | 'senderChecks' | 'receive'>,
  { raw, envelopeFrom, taken, client, helo }: IncomingMessage<TakenRecipient>,
): Promise<void> {
  const [mail, authentication] = await Promise.all([
    mailReader.received(raw, taken[0]?.route.workspaceId ?? ''),
    authenticationOf(senderChecks, { raw, from: envelopeFrom, client, helo }),
  ]);
  if (mail.hops > MOST_HOPS) throw LOOP;
  await receive({ envelopeFrom, taken, raw, mail, authentication });
}

/** A client waits for its reply; RFC 5321 4.5.3.2.6 lets it wait ten minutes. */
const CHECK_MS = 5_000;
/** The lookups end before, so that those results that came in time are known. */
const LOOKUPS_MS = 4_000;

/** The results of SPF, DKIM and DMARC. What does not answer in time is `temperror`, and never a reason to refuse the message. */
async function authenticationOf(
  senderChecks: Pick<SenderChecks, 'check'>,
  message: ReceivedMessage,
): Promise<Readonly<Record<'spf' | 'dkim' | 'dmarc', AuthenticationResult>>> {
  try {
    const { spf, dkim, dmarc } = await within(CHECK_MS, senderChecks.check(message, LOOKUPS_MS));
    return { spf: spf.result, dkim: dkim.result, dmarc: dmarc.result };
  } catch {
    return { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };
  }
}
