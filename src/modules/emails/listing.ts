import { and, desc, eq, gte, ilike, lt, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { lowestIdAt } from '../../db/ids.ts';
import { emailMessages, emails } from '../../db/schema/emails.ts';
import { Failure, invalid } from '../../http/failure.ts';
import type { Caller } from '../../http/route.ts';
import { isProblem, parseAddress } from './address.ts';
import type { EmailQuery } from './request-model.ts';
import { type Found, search } from './search.ts';
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

/** Emails that one request looks at for its filters: some 30 ms, whatever the number of all. */
export const MOST_SEARCHED = 10_000;

/** A list of some states begins with the few emails in them, rather than with the newest of all. */
const RARE: ReadonlySet<EmailQuery['status']> = new Set(['scheduled', 'deferred', 'failed', 'cancelled']);
const IN_FLIGHT: ReadonlySet<EmailQuery['status']> = new Set(['queued', 'sending']);

/** What is in flight is found by the clock's index, in which it never lies further ahead than a lease of twelve minutes. */
const DUE = sql`${emails.wakeAt} < now() + interval '1 hour'`;

/** One row more than the page has, newest first, if there are so many among the emails that are looked at. */
export async function readPage(
  database: Database,
  caller: Caller,
  query: EmailQuery,
  after: string | null,
  mostSearched: number = MOST_SEARCHED,
): Promise<Found<EmailRow> | Failure> {
  const filters = filtersOf(query, after);
  if (filters instanceof Failure) return filters;
  const lists = listsOf(database, caller, filters, query.limit);
  if (IN_FLIGHT.has(query.status) && !(await isCrowded(database, mostSearched)))
    return { rows: await lists.inState(null, DUE), stoppedAt: null };
  const { ofMessage, ofEmail } = filters;
  if (RARE.has(query.status)) {
    // The index has the state.
    const isExact = ofMessage.length === 0 && ofEmail.length === 1;
    if (isExact) return { rows: await lists.inState(null), stoppedAt: null };
    return search({ nth: lists.nthInState, rowsDownTo: lists.inState }, query.limit, mostSearched);
  }
  if (ofMessage.length === 0 && ofEmail.length === 0)
    return { rows: await lists.newest(null), stoppedAt: null };
  return search({ nth: lists.nthNewest, rowsDownTo: lists.newest }, query.limit, mostSearched);
}

/** Whether so much is due, of all workspaces, that what is in flight is found no sooner among it than among the newest. */
async function isCrowded(database: Database, most: number): Promise<boolean> {
  const beyond = await database.read((orm) =>
    orm.select({ id: emails.id }).from(emails).where(DUE).orderBy(emails.wakeAt).offset(most).limit(1),
  );
  return beyond.length > 0;
}

/** The same list of emails, begun with the messages by workspace or with the emails of a state. */
function listsOf(database: Database, caller: Caller, filters: Filters, limit: number) {
  const { ofEmail, ofMessage, ofState, within } = filters;
  const ownMessages = [
    eq(emailMessages.workspaceId, caller.workspaceId),
    eq(emailMessages.livemode, caller.livemode),
    ...within(emailMessages.id),
  ];
  const ownEmails = [
    eq(emails.workspaceId, caller.workspaceId),
    eq(emails.livemode, caller.livemode),
    ...within(emails.id),
  ];
  return {
    newest: (lowest: string | null) =>
      database.read((orm) =>
        orm
          .select(itemColumns)
          .from(emailMessages)
          .innerJoin(emails, eq(emails.id, emailMessages.id))
          .where(
            and(
              ...ownMessages,
              ...ofEmail,
              ...ofMessage,
              // Merged, both sides would otherwise begin with the newest email of all: 220 ms a page amid ten million.
              ...within(emails.id),
              ...(lowest === null ? [] : [gte(emailMessages.id, lowest), gte(emails.id, lowest)]),
            ),
          )
          .orderBy(desc(emailMessages.id))
          .limit(limit + 1),
      ),
    nthNewest: async (count: number) => {
      const [row] = await database.read((orm) =>
        orm
          .select({ id: emailMessages.id })
          .from(emailMessages)
          .where(and(...ownMessages))
          .orderBy(desc(emailMessages.id))
          .offset(count - 1)
          .limit(1),
      );
      return row?.id ?? null;
    },
    inState: (lowest: string | null, leading?: SQL) =>
      database.read((orm) => {
        // Asked of each email by itself, which opens its day alone: joined, all messages are read (95 ms of 100,000).
        const isAsked = orm
          .select({ found: sql`true` })
          .from(emailMessages)
          .where(and(eq(emailMessages.id, emails.id), ...ofMessage));
        const page = orm
          .select({ id: emails.id })
          .from(emails)
          .where(
            and(
              ...ownEmails,
              ...ofEmail,
              leading,
              ofMessage.length === 0 ? undefined : sql`${isAsked}`,
              lowest === null ? undefined : gte(emails.id, lowest),
            ),
          )
          .orderBy(desc(emails.id))
          .limit(limit + 1)
          .as('page');
        return orm
          .select(itemColumns)
          .from(page)
          .innerJoin(emails, eq(emails.id, page.id))
          .innerJoin(emailMessages, eq(emailMessages.id, page.id))
          .orderBy(desc(page.id));
      }),
    nthInState: async (count: number) => {
      const [row] = await database.read((orm) =>
        orm
          .select({ id: emails.id })
          .from(emails)
          .where(and(...ownEmails, ofState))
          .orderBy(desc(emails.id))
          .offset(count - 1)
          .limit(1),
      );
      return row?.id ?? null;
    },
  };
}

interface Filters {
  readonly ofState: SQL | undefined;
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
  const ofState = status === undefined ? undefined : eq(emails.state, status);
  return {
    ofState,
    ofEmail: given([
      ofState !== undefined && ofState,
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
