import { and, desc, eq, exists, gte, ilike, lt, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { lowestIdAt } from '../../db/ids.ts';
import { emailMessages, emails } from '../../db/schema/emails.ts';
import { Failure, invalid } from '../../http/failure.ts';
import type { Caller } from '../../http/route.ts';
import { isProblem, parseAddress } from './address.ts';
import type { EmailQuery } from './request-model.ts';
import type { EmailRow } from './views.ts';

/** What an email's item is made of. */
export const itemColumns = {
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

/**
 * Few emails are in these states, so that a list of them begins with those few; begun with the newest emails of all it
 * would read ten million to find none. Rare states have an index (undefined: nothing more to ask for); what is in flight is
 * found by the clock's, in which it never lies further ahead than a lease of twelve minutes. null: so many are in the
 * state that the newest of all soon fill a page.
 */
const LEADING: Readonly<Record<NonNullable<EmailQuery['status']>, SQL | undefined | null>> = {
  scheduled: undefined,
  deferred: undefined,
  failed: undefined,
  cancelled: undefined,
  queued: sql`${emails.wakeAt} < now() + interval '1 hour'`,
  sending: sql`${emails.wakeAt} < now() + interval '1 hour'`,
  sent: null,
  delivered: null,
};

/** One row more than the page has, newest first, if there are so many. */
export async function readPage(
  database: Database,
  caller: Caller,
  query: EmailQuery,
  after: string | null,
): Promise<readonly EmailRow[] | Failure> {
  const filters = filtersOf(query, after);
  if (filters instanceof Failure) return filters;
  const { ofEmail, ofMessage, within } = filters;
  const leading = query.status === undefined ? null : LEADING[query.status];
  return database.read((orm) => {
    const listed = orm.select(itemColumns);
    if (leading === null)
      return listed
        .from(emailMessages)
        .innerJoin(emails, eq(emails.id, emailMessages.id))
        .where(
          and(
            eq(emailMessages.workspaceId, caller.workspaceId),
            eq(emailMessages.livemode, caller.livemode),
            ...within(emailMessages.id),
            ...ofEmail,
            ...ofMessage,
          ),
        )
        .orderBy(desc(emailMessages.id))
        .limit(query.limit + 1);
    const isAsked = orm
      .select({ id: emailMessages.id })
      .from(emailMessages)
      .where(and(eq(emailMessages.id, emails.id), ...ofMessage));
    const page = orm
      .select({ id: emails.id })
      .from(emails)
      .where(
        and(
          eq(emails.workspaceId, caller.workspaceId),
          eq(emails.livemode, caller.livemode),
          ...within(emails.id),
          ...ofEmail,
          leading,
          ofMessage.length === 0 ? undefined : exists(isAsked),
        ),
      )
      .orderBy(desc(emails.id))
      .limit(query.limit + 1)
      .as('page');
    return listed
      .from(page)
      .innerJoin(emails, eq(emails.id, page.id))
      .innerJoin(emailMessages, eq(emailMessages.id, page.id))
      .orderBy(desc(page.id));
  });
}

interface Filters {
  readonly ofEmail: readonly SQL[];
  readonly ofMessage: readonly SQL[];
  /** Of either table: both have the id, and each begins a list with its own. */
  within(id: typeof emails.id | typeof emailMessages.id): readonly SQL[];
}

const given = (filters: readonly (SQL | false)[]): readonly SQL[] =>
  filters.filter((filter) => filter !== false);

function filtersOf(query: EmailQuery, after: string | null): Filters | Failure {
  const to = keyOf(query.to, '/query/to');
  const from = keyOf(query.from, '/query/from');
  if (to instanceof Failure) return to;
  if (from instanceof Failure) return from;
  const { status, subject, tag, domainId, campaignId, createdAfter, createdBefore } = query;
  return {
    ofEmail: given([
      status !== undefined && eq(emails.state, status),
      to !== null && sql`${emails.recipientKeys} @> array[${to}]::text[]`,
    ]),
    ofMessage: given([
      from !== null && eq(emailMessages.senderKey, from),
      subject !== undefined && ilike(emailMessages.subject, `%${subject.replace(/[\\%_]/g, '\\$&')}%`),
      tag !== undefined && sql`${emailMessages.tags} @> array[${tag}]::text[]`,
      domainId !== undefined && eq(emailMessages.domainId, domainId),
      campaignId !== undefined && eq(emailMessages.campaignId, campaignId),
    ]),
    within: (id) =>
      given([
        after !== null && lt(id, after),
        createdAfter !== undefined && gte(id, lowestIdAt('em', Date.parse(createdAfter))),
        createdBefore !== undefined && lt(id, lowestIdAt('em', Date.parse(createdBefore))),
      ]),
  };
}

/** The form in which addresses are compared; null when none is asked for. */
function keyOf(text: string | undefined, path: string): string | null | Failure {
  if (text === undefined) return null;
  const read = parseAddress(text);
  return isProblem(read) ? invalid([{ path, message: read.problem }]) : read.key;
}
