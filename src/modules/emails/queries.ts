import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../auth/principal.ts';
import { type Database, PREPARED } from '../../db/database.ts';
import { emails, emailEvents as eventTable } from '../../db/schema/emails.ts';
import { Failure, notFound } from '../../http/failure.ts';
import { byId, positionOf, searchPageOf } from '../../http/pagination.ts';
import type { Call, Page } from '../../http/route.ts';
import { packedContent, unpackContent } from './accept/packed-content.ts';
import { type CampaignMail, isOfCampaign } from './campaign-mail.ts';
import type { EmailDetail, EmailItem } from './read/answer-model.ts';
import type { EmailEvent } from './read/event-model.ts';
import { itemColumns, itemRowOf, latestTurn } from './read/lists.ts';
import { readPage } from './read/page.ts';
import type { EmailQuery } from './read/query-model.ts';
import { detailOf, eventOf, itemOf } from './read/views.ts';

// Other modules reach emails through this file alone, so it also names the few values that they share with it.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the queries themselves.
export { SendBody } from './accept/request-model.ts';
export { readScheduledAt } from './accept/scheduled-at.ts';
export type { FilledTemplate } from './accept/templated.ts';
export type { CampaignEmail, CampaignMail, CampaignParts, Leave, Standing } from './campaign-mail.ts';
export { recorded } from './facts.ts';
export { EmailEventType, EmailReceipt } from './read/answer-model.ts';
export { EMAIL_EVENTS, EmailEvent } from './read/event-model.ts';
export { EVENTS_OF_TURN, readEvents, readRecipients } from './read/recorded-events.ts';
export { eventOf } from './read/views.ts';
export { isReturnToken } from './send/return-token.ts';

/** The services that reading emails calls. */
export interface EmailReader {
  readonly database: Database;
  /** The text part that is sent when only html was given. */
  textFromHtml(html: string): string;
  /** How emails of campaigns are made. */
  readonly campaigns?: () => CampaignMail | undefined;
}

const PACKED = sql<string>`${sql.raw(packedContent('emails'))}`;

type EmailCall = Call<{ readonly id: string }>;

/** Restricts to the caller's workspace and environment: everything outside does not exist for the caller. */
const ownEmail = (caller: Principal, id: string): SQL | undefined =>
  and(eq(emails.id, id), eq(emails.workspaceId, caller.workspaceId), eq(emails.livemode, caller.livemode));

/**
 * Lists the emails of the caller's environment, newest first. One request looks at `mostSearched` of them at most, so that a
 * page may hold fewer than asked for although more follow.
 */
export async function listEmails(
  { database, mostSearched }: Pick<EmailReader, 'database'> & { readonly mostSearched?: number },
  { caller, query, now }: Call<unknown, EmailQuery>,
): Promise<Page<EmailItem> | Failure> {
  const request = { list: 'emails', caller, isPosition: byId('em'), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const found = await readPage(database, caller, query, { after, now }, mostSearched);
  if (found instanceof Failure) return found;
  return searchPageOf(request, found.rows, ({ id }) => id, itemOf, found.stoppedAt);
}

/** One email with its content and events. */
export async function emailDetail(
  { database, textFromHtml, campaigns }: EmailReader,
  { caller, params }: EmailCall,
): Promise<EmailDetail | Failure> {
  const [row] = await database.read((orm) => {
    const latest = latestTurn(orm, { lowest: params.id, below: `${params.id}~` });
    return orm
      .select({
        ...itemColumns(latest),
        context: sql<unknown>`case when ${latest.context} is null then ${emails.context}
          else (${emails.context}::jsonb || ${latest.context}::jsonb)::json end`,
        content: PACKED,
        recipientKeys: emails.recipientKeys,
      })
      .from(emails)
      .leftJoinLateral(latest, sql`true`)
      .where(ownEmail(caller, params.id));
  }, PREPARED);
  if (!row) return notFound('email');
  const packed = await unpackContent(row.content);
  const [recipientKey = ''] = row.recipientKeys;
  const made =
    isOfCampaign(packed) && row.campaignId !== null
      ? await campaigns?.()?.parts(
          { emailId: params.id, campaignId: row.campaignId, workspaceId: caller.workspaceId, recipientKey },
          packed,
          'show',
        )
      : null;
  const parts = typeof made === 'object' ? made : null;
  const content = parts ? { ...packed, html: parts.html, text: parts.text } : packed;
  const text = content.text ?? (content.html === null ? null : textFromHtml(content.html));
  return detailOf(
    { ...itemRowOf(row), ...(parts && { subject: parts.subject }) },
    content,
    text,
    await eventsOf(database, params.id),
  );
}

/** The events of one email, oldest first. */
export async function emailEvents(
  { database }: EmailReader,
  { caller, params }: EmailCall,
): Promise<readonly EmailEvent[] | Failure> {
  const [row] = await database.read(
    (orm) => orm.select({ id: emails.id }).from(emails).where(ownEmail(caller, params.id)),
    PREPARED,
  );
  return row ? eventsOf(database, params.id) : notFound('email');
}

/** Nearly every email has fewer events; fifty recipients can have opened and clicked two hundred times each. */
const MOST_EVENTS = 1_000;

/** The oldest opens and clicks are left out of too many events, so that the outcome of the email is always shown. */
async function eventsOf(database: Database, emailId: string): Promise<readonly EmailEvent[]> {
  const isVisit = sql`${eventTable.type} in ('opened', 'clicked')`;
  const rows = await database.read((orm) => {
    const kept = orm
      .select()
      .from(eventTable)
      .where(eq(eventTable.emailId, emailId))
      .orderBy(isVisit, desc(eventTable.occurredAt), desc(eventTable.position), desc(eventTable.id))
      .limit(MOST_EVENTS)
      .as('kept');
    // Ids of one millisecond are in no order between commits; an email's commits are, by their transactions.
    return orm.select().from(kept).orderBy(asc(kept.occurredAt), asc(kept.position), asc(kept.id));
  }, PREPARED);
  return rows.map(eventOf);
}
