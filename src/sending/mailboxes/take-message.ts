import { checkedInTime, type SenderChecks } from '../../mail/authentication/sender-checks.ts';
import type { Feedback } from '../../mail/inbound/feedback.ts';
import { tokenOf } from '../../mail/inbound/verp.ts';
import { withLineEnds } from '../../mail/raw/line-ends.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { hasLargeHeader } from '../../mail/received/header.ts';
import { LARGEST_AGGREGATE, LARGEST_INBOUND, shortened } from '../../mail/received/inbound-server.ts';
import { namedRecipients } from '../../mail/received/named-recipients.ts';
import { isRefusable, type SpamFilter } from '../../mail/spam/spam-filter.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { isReturnToken } from '../emails/queries.ts';
import { type LeaveByMail, leaveAll } from '../inbound/commands.ts';
import {
  type ReceivingRoute,
  readRecipient,
  repliedEmailOf,
  routesOfWorkspace,
  takingRoute,
} from '../inbound-routes/queries.ts';
import {
  type MailboxPlace,
  type ReceivedApi,
  type StoredAuthentication,
  type TakenRecipient,
  untakable,
} from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import { isKnown, isPassed, pass } from './places.ts';
import type { MailboxRow } from './queries.ts';

/** The services that taking a message of a mailbox calls. */
export interface TakingDeps extends ReceivedApi {
  readonly database: Database;
  readonly signer: Signer;
  readonly now: () => number;
  readonly mailReader: Pick<MailReader, 'report' | 'received'>;
  readonly senderChecks: Pick<SenderChecks, 'check'>;
  /** Null where none is configured. */
  readonly spamFilter: SpamFilter | null;
  readonly reports: ReportsApi;
  record(feedback: readonly Feedback[], isVouched: boolean): Promise<void>;
  readonly leaveByMail: LeaveByMail;
}

/** A message is for a domain that is not verified: its place is kept until it is. */
export class DomainUnproven extends Error {
  override readonly name = 'DomainUnproven';
}

/** The end of a message that was read; `known` is one that was read before. */
export type MessageEnd = 'taken' | 'skipped' | 'known';

type Owner = Pick<MailboxRow, 'workspaceId' | 'livemode' | 'username'>;

/** Recipients of one message for whom it is stored. */
const MOST_TAKEN = 20;

/**
 * Stores a message for the recipients whom the routes of its workspace take, and records the bounce,
 * complaint or report that it is. Its place in the mailbox is noted in the commit that stores it. @throws
 * DomainUnproven, MailboxLost, UnavailableError
 */
export async function takeMessage(
  deps: TakingDeps,
  owner: Owner,
  place: Omit<MailboxPlace, 'digest'>,
  octets: Buffer,
): Promise<MessageEnd> {
  const { database, mailReader, signer, record } = deps;
  const skip = async (digest?: string): Promise<MessageEnd> => {
    await pass(database, place, { skipped: 1, ...(digest !== undefined && { digest }) });
    return 'skipped';
  };
  const raw = withLineEnds(octets, LARGEST_INBOUND);
  // Its end is found by whole line ends.
  if (raw === null || hasLargeHeader(raw)) return skip();
  const mail = await mailReader.received(raw, owner.workspaceId);
  const { delivered, named, returnPath } = namedRecipients(raw);
  // A copy for another address of the same account has other recipients.
  const digest = new Bun.CryptoHasher('sha256')
    .update([mail.messageId ?? '', mail.digest, ...delivered.toSorted()].join('\n'))
    .digest('hex');
  if (await isKnown(database, place.id, digest)) {
    await pass(database, place, {});
    return 'known';
  }
  const envelopeFrom = returnPath ?? mail.from?.address ?? '';
  const isNull = envelopeFrom === '';
  const all = [...new Set([...delivered, ...named])];
  const feedback = mail.isAutomatic || isNull ? await mailReader.report(shortened(raw), all, isNull) : [];
  // Anybody can write to a mailbox, so only an address that was signed here identifies an email.
  if (feedback.length > 0) await record(feedback, false);
  const hasLeft = (await leaveAll(deps, all, raw)) === 'left';
  const isReport = await takeReport(deps, owner, { raw, recipients: all, from: envelopeFrom });
  const isCounted = isReport || hasLeft;
  const taken = await takersOf(deps, owner, [delivered, named, [owner.username]], all);
  const recipients = taken.map(({ recipient }) => recipient);
  const isRefused = untakable(mail, recipients, signer) !== null;
  const judged = { helo: '', client: null, from: envelopeFrom, at: deps.now() };
  const [authentication, spam] =
    taken.length === 0 || isRefused
      ? [null, null]
      : await Promise.all([
          authenticationOf(deps.senderChecks, owner.workspaceId, raw, envelopeFrom),
          deps.spamFilter?.judge(raw, judged) ?? null,
        ]);
  const wanted = taken.filter(({ route }) => !isRefusable(spam) || route.spam !== 'refuse');
  if (wanted.length === 0 || isRefused) {
    if (feedback.length === 0 && !isCounted) return skip(digest);
    await pass(database, place, { taken: 1, digest });
    return 'taken';
  }
  const mailbox = { ...place, digest };
  await deps.receive({ envelopeFrom, taken: wanted, raw, mail, authentication, spam, mailbox });
  // It may have come by SMTP before, or by another mailbox: then it is stored, and its place is not noted.
  await isPassed(database, place, { digest });
  return 'taken';
}

/**
 * Counts the DMARC or TLS report in a message to an address for them, proven by its signature; false where it
 * names none. @throws UnavailableError
 */
async function takeReport(
  { reports }: Pick<TakingDeps, 'reports'>,
  { workspaceId }: Owner,
  {
    raw,
    recipients,
    from,
  }: { readonly raw: Buffer; readonly recipients: readonly string[]; readonly from: string },
): Promise<boolean> {
  if (raw.length > LARGEST_AGGREGATE) return false;
  const reported = await reports.addressesFor(recipients);
  if (reported.length === 0) return false;
  await reports.takeReport({ raw, recipients: reported, client: null, workspaceId, helo: '', from });
  return true;
}

/**
 * The recipients whom routes take. A reply address proves itself. Else those count whom the server of the
 * mailbox has delivered it to, then those whom To and Cc name, then the account itself. @throws
 * DomainUnproven
 */
async function takersOf(
  { database, signer, now }: Pick<TakingDeps, 'database' | 'signer' | 'now'>,
  owner: Owner,
  choices: readonly (readonly string[])[],
  all: readonly string[],
): Promise<readonly TakenRecipient[]> {
  const routes = await routesOfWorkspace(database, owner);
  const taking = (address: string): readonly (TakenRecipient & { readonly route: ReceivingRoute })[] => {
    const recipient = readRecipient(address);
    const token = tokenOf(address);
    // A return path is no address of a route.
    if (!recipient || (token !== null && isReturnToken(token, signer, now()))) return [];
    const ofDomain = routes.filter(({ domainName }) => domainName === recipient.domain);
    const route = takingRoute(ofDomain, recipient, signer);
    return route ? [{ route, recipient }] : [];
  };
  const isReply = (address: string): boolean => {
    const recipient = readRecipient(address);
    return recipient !== null && repliedEmailOf(recipient, signer)?.isOf(owner) === true;
  };
  for (const addresses of [all.filter(isReply), ...choices]) {
    const taken = addresses.flatMap(taking).slice(0, MOST_TAKEN);
    // By SMTP its sender comes again; here it would be passed for good.
    if (taken.some(({ route }) => !route.isProven)) throw new DomainUnproven();
    if (taken.length > 0) return taken;
  }
  return [];
}

/**
 * The results of DKIM and DMARC. The address of the client is not known any more, so that there is no SPF.
 */
async function authenticationOf(
  senderChecks: Pick<SenderChecks, 'check'>,
  workspaceId: string,
  raw: Buffer,
  from: string,
): Promise<StoredAuthentication> {
  const results = await checkedInTime(senderChecks, { raw, from, client: null, workspaceId, helo: '' });
  const of = (check: 'dkim' | 'dmarc') => results?.[check].result ?? 'temperror';
  return { spf: 'none', dkim: of('dkim'), dmarc: of('dmarc') };
}
