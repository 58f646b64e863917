import type { ReceivedMessage } from '../../mail/authentication/check-sender.ts';
import { checkedInTime, type SenderChecks } from '../../mail/authentication/sender-checks.ts';
import type { AuthenticationResult, SenderResults } from '../../mail/authentication/sender-results.ts';
import type { Feedback } from '../../mail/inbound/feedback.ts';
import { Refusal, type SmtpServer, type SmtpServerOptions } from '../../mail/inbound/smtp-server.ts';
import { type ArcChain, MOST_HOPS } from '../../mail/raw/raw-mail.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { MOST_ADDRESSES } from '../../mail/received/address-keys.ts';
import { type IncomingMessage, openInboundServer } from '../../mail/received/inbound-server.ts';
import { isRefusable, type SpamFilter } from '../../mail/spam/spam-filter.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import {
  type ReceivedApi,
  type StoredAuthentication,
  type TakenRecipient,
  type Untakable,
  untakable,
} from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import { type LeaveByMail, leavingDoor } from './commands.ts';
import { takersOf, takesReportsHere } from './takers.ts';

export interface InboundParts extends ReceivedApi, Pick<InboundRoutesApi, 'receivingRoutes'> {
  readonly host: string;
  readonly port: number;
  /** The host name in the greeting. */
  readonly name: string;
  readonly tls: SmtpServerOptions['tls'];
  readonly isProxy: (address: string) => boolean;
  readonly onError: SmtpServerOptions['onError'];
  readonly database: Database;
  readonly signer: Signer;
  readonly now: () => number;
  readonly mailReader: Pick<MailReader, 'report' | 'received'>;
  readonly senderChecks: Pick<SenderChecks, 'check'>;
  readonly reports: ReportsApi;
  /** Null where none is configured. */
  readonly spamFilter: SpamFilter | null;
  readonly count?: (end: 'taken' | 'spam' | 'loop' | 'later') => void;
  record(feedback: readonly Feedback[], isVouched: boolean): Promise<void>;
  readonly leaveByMail: LeaveByMail;
}

const REFUSALS: Readonly<Record<Untakable, Refusal>> = {
  loop: new Refusal(
    554,
    `5.4.6 The message has more than ${MOST_HOPS} Received fields: it runs in a circle between servers`,
  ),
  addresses: new Refusal(552, `5.3.4 The header names too many addresses: it may name ${MOST_ADDRESSES}`),
  returned: new Refusal(554, '5.4.6 This address has forwarded the message before: it runs in a circle'),
};

const SPAM = new Refusal(550, '5.7.1 The message looks like spam and is not taken');

/** Opens the listener. It refuses mail to any other address at RCPT. */
export const openInbound = ({
  database,
  signer,
  now,
  record,
  receive,
  receivingRoutes,
  reports,
  mailReader,
  senderChecks,
  spamFilter,
  count,
  leaveByMail,
  ...where
}: InboundParts): Promise<SmtpServer> =>
  openInboundServer<TakenRecipient>({
    ...where,
    mailReader,
    takesReports: (address) => takesReportsHere({ database, name: where.name, signer, now }, address),
    takersOf: (address) => takersOf({ receivingRoutes, signer, now }, address),
    // Anybody can connect to this port, so only an address that was signed here identifies an email.
    onReport: (feedback) => record(feedback, false),
    onMessage: async (message) => {
      const parts = { mailReader, senderChecks, receive, signer, spamFilter, now, name: where.name };
      try {
        await take(parts, message);
        count?.('taken');
      } catch (error) {
        count?.(
          error === SPAM ? 'spam' : error === REFUSALS.loop || error === REFUSALS.returned ? 'loop' : 'later',
        );
        throw error;
      }
    },
    // One transaction has one end: mail that one route refuses cannot be taken by another.
    isTogether: ([one], [other]) => spamFilter === null || one?.route.spam === other?.route.spam,
    routeOf: ({ route }) => route.id,
    doors: [leavingDoor({ signer, leaveByMail }), { takes: reports.takesReports, take: reports.takeReport }],
  });

/** Reads a message and stores it for everyone whom it came to. */
async function take(
  {
    mailReader,
    senderChecks,
    receive,
    signer,
    spamFilter,
    now,
    name,
  }: Pick<InboundParts, 'mailReader' | 'senderChecks' | 'receive' | 'signer' | 'spamFilter' | 'now' | 'name'>,
  { raw, envelopeFrom, taken, client, helo, protocol, tls }: IncomingMessage<TakenRecipient>,
): Promise<void> {
  const [mail, authentication, spam] = await Promise.all([
    mailReader.received(raw, taken[0]?.route.workspaceId ?? ''),
    authenticationOf(senderChecks, name, { raw, from: envelopeFrom, client, helo }, { protocol, tls }),
    spamFilter?.judge(raw, { helo, client, from: envelopeFrom, at: now() }) ?? null,
  ]);
  const recipients = taken.map(({ recipient }) => recipient);
  const reason = untakable(mail, recipients, signer);
  if (reason !== null) throw REFUSALS[reason];
  if (isRefusable(spam) && taken.some(({ route }) => route.spam === 'refuse')) throw SPAM;
  await receive({ envelopeFrom, taken, raw, mail, authentication, spam });
}

/**
 * The results of SPF, DKIM, DMARC and ARC. What does not answer in time is `temperror`, and never a reason to
 * refuse the message.
 */
async function authenticationOf(
  senderChecks: Pick<SenderChecks, 'check'>,
  name: string,
  message: ReceivedMessage & { readonly client: string },
  connection: Pick<IncomingMessage<unknown>, 'protocol' | 'tls'>,
): Promise<StoredAuthentication> {
  const { client, helo } = message;
  const results = await checkedInTime(senderChecks, message);
  if (results === null) return { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };
  const { spf, dkim, dmarc, arc } = results;
  const chain = isChain(arc.result) ? arc.result : null;
  return {
    spf: spf.result,
    dkim: dkim.result,
    dmarc: dmarc.result,
    forward: { results: resultsText(name, results), chain, helo: helo || null, client, ...connection },
  };
}

const isChain = (result: AuthenticationResult): result is ArcChain =>
  result === 'none' || result === 'pass' || result === 'fail';

/**
 * The results in the form of Authentication-Results (RFC 8601). A domain is a word of the message: one that
 * is no host is left out.
 */
function resultsText(name: string, { spf, dkim, dmarc, arc }: SenderResults): string {
  const of = (property: string, domain: string | null | undefined): string =>
    domain && HOST.test(domain) ? ` ${property}=${domain}` : '';
  return [
    name,
    `spf=${spf.result}${of('smtp.mailfrom', spf.domain)}`,
    ...(dkim.result === 'pass'
      ? dkim.domains.slice(0, MOST_SIGNERS).map((domain) => `dkim=pass${of('header.d', domain)}`)
      : [`dkim=${dkim.result}`]),
    `dmarc=${dmarc.result}${of('header.from', dmarc.domain)}`,
    `arc=${arc.result}`,
  ].join('; ');
}

const HOST = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+){0,20}$/i;
/** The signers that a seal names. */
const MOST_SIGNERS = 5;
