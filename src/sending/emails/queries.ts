import type { Principal } from '../../http/auth/principal.ts';
import type { CountView } from '../../http/lists/count.ts';
import { byId, positionOf, searchPageOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import { BodyLost, type BodyStore } from '../../platform/bodies/body-store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import { withShownParts } from '../tracking/api.ts';
import type { Content } from './accept/message.ts';
import { bringBack } from './bodies/content-bodies.ts';
import { type CampaignMail, isOfCampaign } from './campaign-mail.ts';
import type { EmailDetail, EmailItem } from './read/answer-model.ts';
import { readDetail, readEventsOf } from './read/detail.ts';
import type { EmailEvent } from './read/event-model.ts';
import { countEmails, type EmailFilter, readPage } from './read/page.ts';
import type { EmailQuery } from './read/query-model.ts';
import { detailOf, itemOf } from './read/views.ts';

// Other modules reach emails through this file alone, so it also names the few values that they share with
// it.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the queries themselves.
export { wholeEnvelope } from './accept/message.ts';
export { erasedContent } from './accept/packed-content.ts';
export { SendBody } from './accept/request-model.ts';
export { readScheduledAt } from './accept/scheduled-at.ts';
export { sentKeySql } from './accept/sent-message-ids.ts';
export {
  type FilledTemplate,
  problemOfLength,
  problemOfRendered,
  type TemplateFilling,
} from './accept/templated.ts';
export type { BulkRoom, RoomForBulk } from './bulk/bulk-room.ts';
export type {
  CampaignEmail,
  CampaignMail,
  CampaignParts,
  CampaignSendState,
  ReadCampaignEmail,
} from './campaign-mail.ts';
export { recorded, recordedOnClock } from './facts.ts';
export { fileResponse, messageResponse } from './raw/raw-queries.ts';
export { EmailDetail, EmailEventType, EmailReceipt } from './read/answer-model.ts';
export { EMAIL_EVENTS, EmailEvent, EVENT_PHRASES } from './read/event-model.ts';
export { stateOfSql } from './read/item-statements.ts';
export { EVENTS_OF_TURN, type EventPlace, readEvents, readRecipients } from './read/recorded-events.ts';
export { eventOf } from './read/views.ts';
export { eraseForwarded, forwardsPersonSql } from './retention/erase-forwarded.ts';
export { type Destination, isReturnToken } from './send/return-token.ts';

/** The services that listing emails calls. */
export interface EmailLister {
  readonly reads: Reads;
  /** True for a distributed database. */
  readonly isOnNodes: boolean;
  /** For tests; `MOST_SEARCHED` otherwise. */
  readonly mostSearched?: number;
}

/** The services that reading emails calls. */
export interface EmailReader {
  readonly database: Database;
  /** The store of large contents; null for the database. */
  readonly bodies: BodyStore | null;
  /** The text part that is sent when only html was given. */
  textFromHtml(html: string): string;
  /** Renders emails of campaigns. */
  readonly campaigns?: () => CampaignMail | undefined;
}

type EmailCall = Call<{ readonly id: string }>;

/**
 * Lists the emails of the caller's environment, newest first. One request looks at `mostSearched` of them at
 * most, so that a page may hold fewer than asked for although more follow.
 */
export async function listEmails(
  { reads, isOnNodes, mostSearched }: EmailLister,
  { caller, query, now }: Call<unknown, EmailQuery>,
): Promise<Page<EmailItem> | Failure> {
  const request = { list: 'emails', caller, isPosition: byId('em'), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const found = await readPage(reads, { ...caller, isOnNodes }, query, { after, now }, mostSearched);
  if (found instanceof Failure) return found;
  return searchPageOf(request, found.rows, ({ id }) => id, itemOf, found.stoppedAt);
}

/** Counts the emails of such a list. */
export const emailCount = (
  { reads, isOnNodes }: EmailLister,
  { caller, query, now }: Call<unknown, EmailFilter>,
): Promise<CountView | Failure> => countEmails(reads, { ...caller, isOnNodes }, query, now);

/** One email with its content and events. */
export async function emailDetail(
  { database, bodies, textFromHtml, campaigns }: EmailReader,
  { caller, params }: EmailCall,
): Promise<EmailDetail | Failure> {
  const row = await readDetail(database, caller, params.id);
  if (!row) return notFound('email');
  const packed = await shownContent(bodies, row.content);
  const [recipientKey = ''] = row.recipient_keys;
  const made =
    isOfCampaign(packed) && row.campaign_id !== null
      ? await campaigns?.()?.parts(
          {
            emailId: params.id,
            campaignId: row.campaign_id,
            workspaceId: caller.workspaceId,
            recipientKey,
            subject: row.subject,
          },
          packed,
          'show',
        )
      : null;
  const parts = typeof made === 'object' ? made : null;
  const whole = parts ? { ...packed, html: parts.html, text: parts.text } : packed;
  const content = caller.livemode ? withShownParts(whole) : whole;
  const isMade = content.text === null && content.html !== null && !content.raw;
  const text = isMade ? textFromHtml(content.html ?? '') : content.text;
  const shown = detailOf(
    { ...row, ...(parts && { subject: parts.subject ?? row.subject }) },
    content,
    text,
    row.events,
  );
  return parts ? { ...shown, templateVersion: parts.templateVersion } : shown;
}

/** The state of an email and of each of its recipients; null where there is none. @throws UnavailableError */
export async function emailFate(
  database: Database,
  owner: Pick<Principal, 'workspaceId' | 'livemode'>,
  id: string,
): Promise<(Pick<EmailDetail, 'status'> & { recipients: { address: string; status: string }[] }) | null> {
  const row = await readDetail(database, owner, id);
  if (!row) return null;
  const { status, recipients } = detailOf(row, NO_CONTENT, null, []);
  return { status, recipients: recipients.map((one) => ({ address: one.address, status: one.status })) };
}

const NO_CONTENT: Content = { text: null, html: null, markdown: null, attachments: [] };

/**
 * A content as it is shown. Of one that is lost the email is shown without it: what sending it came to says
 * so. @throws UnavailableError
 */
const shownContent = (bodies: BodyStore | null, packed: string): Promise<Content> =>
  bringBack(bodies, packed, 'shown').catch((error: unknown) => {
    if (error instanceof BodyLost) return NO_CONTENT;
    throw error;
  });

/** The events of one email, oldest first. */
export async function emailEvents(
  { database }: EmailReader,
  { caller, params }: EmailCall,
): Promise<readonly EmailEvent[] | Failure> {
  return (await readEventsOf(database, caller, params.id)) ?? notFound('email');
}
