import { withLineEnds } from '../../mail/raw/line-ends.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { hasLargeHeader } from '../../mail/received/header.ts';
import { LARGEST_AGGREGATE, LARGEST_INBOUND, shortened } from '../../mail/received/inbound-server.ts';
import { isRefusable, type SpamFilter } from '../../mail/spam/spam-filter.ts';
import { NO_JUDGEMENT, type SpamJudgement } from '../../mail/spam/spam-judgement.ts';
import { type ReceivedNotification, readReceived } from '../../mail/transport/ses/received-notification.ts';
import type { ReceivedObjects } from '../../mail/transport/ses/received-objects.ts';
import type { InboundTopic } from '../../platform/config/settings/ses-inbound-settings.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { EmailsApi } from '../emails/api.ts';
import { type ReceivedApi, type TakenRecipient, untakable } from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import type { SesEnd } from './api.ts';
import { type LeaveByMail, leaveAll } from './commands.ts';
import { isForReports, type TakerParts, takerOf } from './takers.ts';

/** The services that taking a message of SES calls. */
export interface SesDoorParts extends TakerParts, ReceivedApi, Pick<EmailsApi, 'recordFeedback'> {
  readonly mailReader: Pick<MailReader, 'report' | 'received'>;
  readonly reports: ReportsApi;
  readonly leaveByMail: LeaveByMail;
  readonly spamFilter: SpamFilter | null;
  /** Null where no bucket is configured. */
  readonly objects: ReceivedObjects | null;
  readonly logger: Pick<Logger, 'warn'>;
  readonly count?: (end: 'taken' | 'spam' | 'loop' | 'later') => void;
}

/**
 * Takes a message that SES has received into the routes, as the port does. SES has accepted it, so that
 * nothing can be refused any more: what no route takes is skipped. @throws UnavailableError when SNS should
 * send it again
 */
export async function takeSes(parts: SesDoorParts, message: string, topic: InboundTopic): Promise<SesEnd> {
  const { objects, logger, count } = parts;
  const notification = readReceived(message);
  if (!notification) return 'skipped';
  const { content } = notification;
  const told = { topic: topic.arn };
  if (content === null) {
    logger.warn(told, 'A notification of SES has no message: its rule needs an SNS action, or an S3 action.');
    return 'skipped';
  }
  try {
    if ('octets' in content) return await take(parts, notification, content.octets, topic);
    if (!objects?.mayRead(content, topic.workspaceId)) {
      logger.warn(told, 'A notification of SES names an object that is not in SES_INBOUND_BUCKET.');
      return 'refused';
    }
    const region = topic.arn.split(':')[3] ?? '';
    return await objects.use(region, content.key, async (octets) => take(parts, notification, octets, topic));
  } catch (error) {
    count?.('later');
    throw error;
  }
}

async function take(
  parts: SesDoorParts,
  notification: ReceivedNotification,
  octets: Buffer | null,
  topic: InboundTopic,
): Promise<SesEnd> {
  const { logger } = parts;
  const { recipients } = notification;
  const raw = octets && withLineEnds(octets, LARGEST_INBOUND);
  if (raw === null || hasLargeHeader(raw)) {
    logger.warn({ topic: topic.arn }, 'A message of SES is too large, or its header, and is skipped.');
    return 'skipped';
  }
  const hasLeft = (await leaveAll(parts, recipients, raw)) === 'left';
  const isRead = (await takeReports(parts, raw, notification)) || hasLeft;
  const found = await Promise.all(recipients.map((address) => takerOf(parts, address, topic.workspaceId)));
  const known = found.filter((one) => one !== null);
  const taken = known.flatMap(({ isSettled, ...one }) => (isSettled ? [one] : []));
  const end = taken.length === 0 ? null : await store(parts, notification, raw, taken);
  // The others have the message by then, and get it once when it comes again.
  if (end !== 'loop' && taken.length < known.length)
    throw new UnavailableError('A domain is not verified now.', 'no', 60);
  return end ?? (isRead ? 'taken' : 'skipped');
}

/** Stores a message for those of its recipients that want it. */
async function store(
  parts: SesDoorParts,
  notification: ReceivedNotification,
  raw: Buffer,
  taken: readonly TakenRecipient[],
): Promise<SesEnd> {
  const { mailReader, receive, signer, count, logger } = parts;
  const [mail, spam] = await Promise.all([
    mailReader.received(raw, taken[0]?.route.workspaceId ?? ''),
    judge(parts, notification, raw),
  ]);
  const recipients = taken.map(({ recipient }) => recipient);
  const reason = untakable(mail, recipients, signer);
  if (reason === 'addresses') {
    logger.warn('The header of a message of SES names too many addresses: it is skipped.');
    return 'skipped';
  }
  if (reason !== null) {
    count?.('loop');
    return 'loop';
  }
  const wanted = taken.filter(({ route }) => route.spam !== 'refuse' || !isRefusable(spam));
  if (wanted.length < taken.length) count?.('spam');
  if (wanted.length === 0) return 'spam';
  const { from, authentication } = notification;
  await receive({ envelopeFrom: from, taken: wanted, raw, mail, authentication, spam });
  count?.('taken');
  return 'taken';
}

/**
 * Records the bounce or complaint that a message is, and counts the report in it. False where it is neither.
 */
async function takeReports(
  { mailReader, reports, recordFeedback, ...parts }: SesDoorParts,
  raw: Buffer,
  { from, recipients }: ReceivedNotification,
): Promise<boolean> {
  let isRead = false;
  if (recipients.some((address) => isForReports(parts, address))) {
    const feedback = await mailReader.report(shortened(raw), recipients, from === '');
    isRead = feedback.length > 0;
    if (isRead) await recordFeedback(feedback, false);
  }
  if (raw.length > LARGEST_AGGREGATE) return isRead;
  const reported = await reports.addressesFor(recipients);
  if (reported.length === 0) return isRead;
  return (await reports.takeReport({ raw, recipients: reported, client: null, helo: '', from })) || isRead;
}

/** The verdict of SES; where it has none, that of the filter. */
async function judge(
  { spamFilter, now }: Pick<SesDoorParts, 'spamFilter' | 'now'>,
  { spam, from }: ReceivedNotification,
  raw: Buffer,
): Promise<SpamJudgement> {
  if (spam !== null) return { verdict: spam, score: null };
  return (await spamFilter?.judge(raw, { helo: '', client: null, from, at: now() })) ?? NO_JUDGEMENT;
}
