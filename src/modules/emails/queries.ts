import { and, asc, desc, eq, gte, ilike, lt, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { lowestIdAt } from '../../db/ids.ts';
import { emailMessages, emails, emailEvents as eventTable } from '../../db/schema/emails.ts';
import { Failure, invalid, notFound } from '../../http/failure.ts';
import { byId, pageOf, positionOf } from '../../http/pagination.ts';
import type { Call, Caller, Page } from '../../http/route.ts';
import { isProblem, parseAddress } from './address.ts';
import type { Content } from './message.ts';
import type { EmailDetail, EmailEvent, EmailItem, EmailQuery } from './model.ts';
import { detailOf, eventOf, itemOf } from './views.ts';

// What other modules need of emails; this is the one door that they may use.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the queries themselves.
export { isProblem, parseAddress } from './address.ts';
export { isReturnToken } from './live-token.ts';
export { EmailEvent, EmailEventType, type EmailReceipt, SendBody } from './model.ts';
export { eventOf } from './views.ts';

/** What reading emails needs. */
export interface EmailReader {
  readonly database: Database;
  /** The text part that is sent when only html was given. */
  textFromHtml(html: string): string;
}

type One = Call<{ readonly id: string }>;

const itemColumns = {
  id: emails.id,
  livemode: emails.livemode,
  state: emails.state,
  context: emails.context,
  lastEvent: emails.lastEvent,
  failureReason: emails.failureReason,
  scheduledAt: emails.scheduledAt,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  subject: emailMessages.subject,
  domainId: emailMessages.domainId,
  templateId: emailMessages.templateId,
  campaignId: emailMessages.campaignId,
  envelope: emailMessages.envelope,
};

/** The wall between environments and workspaces: what is not within it does not exist. */
const ownEmail = (caller: Caller, id: string): SQL | undefined =>
  and(eq(emails.id, id), eq(emails.workspaceId, caller.workspaceId), eq(emails.livemode, caller.livemode));

/** The emails of the caller's environment, newest first. */
export async function listEmails(
  { database }: EmailReader,
  { caller, query }: Call<unknown, EmailQuery>,
): Promise<Page<EmailItem> | Failure> {
  const request = { list: 'emails', isPosition: byId('em'), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const filters = filtersOf(query);
  if (filters instanceof Failure) return filters;
  const rows = await database.read((orm) =>
    orm
      .select(itemColumns)
      .from(emailMessages)
      .innerJoin(emails, eq(emails.id, emailMessages.id))
      .where(
        and(
          eq(emailMessages.workspaceId, caller.workspaceId),
          eq(emailMessages.livemode, caller.livemode),
          after === null ? undefined : lt(emailMessages.id, after),
          ...filters,
        ),
      )
      .orderBy(desc(emailMessages.id))
      .limit(query.limit + 1),
  );
  return pageOf(request, rows, ({ id }) => id, itemOf);
}

/** One email with its content and events. */
export async function emailDetail(
  { database, textFromHtml }: EmailReader,
  { caller, params }: One,
): Promise<EmailDetail | Failure> {
  const [row] = await database.read((orm) =>
    orm
      .select({ ...itemColumns, content: emailMessages.content })
      .from(emails)
      .innerJoin(emailMessages, eq(emails.id, emailMessages.id))
      .where(and(ownEmail(caller, params.id), eq(emailMessages.id, params.id))),
  );
  if (!row) return notFound('email');
  const content = row.content as Content;
  const text = content.text ?? (content.html === null ? null : textFromHtml(content.html));
  return detailOf(row, content, text, await eventsOf(database, params.id));
}

/** The events of one email, oldest first. */
export async function emailEvents(
  { database }: EmailReader,
  { caller, params }: One,
): Promise<readonly EmailEvent[] | Failure> {
  const [row] = await database.read((orm) =>
    orm.select({ id: emails.id }).from(emails).where(ownEmail(caller, params.id)),
  );
  return row ? eventsOf(database, params.id) : notFound('email');
}

/** More events than anybody's email has; opens of a shared message are the only ones without a bound of their own. */
const MOST_EVENTS = 1_000;

async function eventsOf(database: Database, emailId: string): Promise<readonly EmailEvent[]> {
  const rows = await database.read((orm) =>
    orm
      .select()
      .from(eventTable)
      .where(eq(eventTable.emailId, emailId))
      // Ids of one millisecond are in no order between commits; an email's commits are, by their transactions.
      .orderBy(asc(eventTable.occurredAt), asc(eventTable.position), asc(eventTable.id))
      .limit(MOST_EVENTS),
  );
  return rows.map(eventOf);
}

function filtersOf(query: EmailQuery): readonly SQL[] | Failure {
  const to = keyOf(query.to, '/query/to');
  const from = keyOf(query.from, '/query/from');
  if (to instanceof Failure) return to;
  if (from instanceof Failure) return from;
  const { status, subject, tag, domainId, campaignId, createdAfter, createdBefore } = query;
  const given: (SQL | undefined | false | null)[] = [
    status !== undefined && eq(emails.state, status),
    to !== null && sql`${emails.recipientKeys} @> array[${to}]::text[]`,
    from !== null && eq(emailMessages.senderKey, from),
    subject !== undefined && ilike(emailMessages.subject, `%${subject.replace(/[\\%_]/g, '\\$&')}%`),
    tag !== undefined && sql`${emailMessages.tags} @> array[${tag}]::text[]`,
    domainId !== undefined && eq(emailMessages.domainId, domainId),
    campaignId !== undefined && eq(emailMessages.campaignId, campaignId),
    createdAfter !== undefined && gte(emailMessages.id, lowestIdAt('em', Date.parse(createdAfter))),
    createdBefore !== undefined && lt(emailMessages.id, lowestIdAt('em', Date.parse(createdBefore))),
  ];
  return given.filter((filter) => filter !== false && filter !== null && filter !== undefined) as SQL[];
}

/** The form in which addresses are compared; null when none is asked for. */
function keyOf(text: string | undefined, path: string): string | null | Failure {
  if (text === undefined) return null;
  const read = parseAddress(text);
  return isProblem(read) ? invalid([{ path, message: read.problem }]) : read.key;
}
