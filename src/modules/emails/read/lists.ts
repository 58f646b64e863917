import { and, desc, eq, gte, lte, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../../auth/principal.ts';
import { type Database, PREPARED } from '../../../db/database.ts';
import { lowestIdAt } from '../../../db/ids.ts';
import { emailMessages, emails } from '../../../db/schema/emails.ts';
import type { Filters } from './filters.ts';
import type { EmailItemRow } from './views.ts';

const columnsOfEmail = {
  id: emails.id,
  livemode: emails.livemode,
  state: emails.state,
  lastEvent: emails.lastEvent,
  failureReason: emails.failureReason,
  scheduledAt: emails.scheduledAt,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
};
const columnsOfMessage = {
  subject: emailMessages.subject,
  domainId: emailMessages.domainId,
  templateId: emailMessages.templateId,
  campaignId: emailMessages.campaignId,
  envelope: emailMessages.envelope,
};
type OwnRow = Omit<EmailItemRow, keyof typeof columnsOfMessage>;

/** What an email's item is made of. */
export const itemColumns = { ...columnsOfEmail, ...columnsOfMessage };

/**
 * Messages lie in a partition a day. A list of all of them opens each of a month's: 1.7 ms to plan and 0.9 to run, for the page
 * that the days at its beginning nearly always hold: 0.5 and 0.3.
 */
const NEAR_MS = 2 * 86_400_000;

/** What is in flight is found by the clock's index, in which it never lies further ahead than a lease of twelve minutes. */
export const DUE = sql`${emails.wakeAt} < now() + interval '1 hour'`;

/** Whether so much is due, of all workspaces, that what is in flight is found no sooner among it than among the newest. */
export async function isCrowded(database: Database, most: number): Promise<boolean> {
  const beyond = await database.read(
    (orm) =>
      orm.select({ id: emails.id }).from(emails).where(DUE).orderBy(emails.wakeAt).offset(most).limit(1),
    PREPARED,
  );
  return beyond.length > 0;
}

/** The same list of emails, begun with the messages by workspace or with the emails of a state. */
export function listsOf(database: Database, caller: Principal, filters: Filters, limit: number) {
  const { ofEmail, ofMessage, ofState, within, begins } = filters;
  const near = lowestIdAt('em', begins - NEAR_MS);
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

  // Any combination of filters is a text of its own; what is asked besides these is of few forms.
  const prepared = ofEmail.length === 0 && ofMessage.length === 0;
  const newest = (lowest: string | null): Promise<EmailItemRow[]> =>
    database.read(
      (orm) =>
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
      { prepared },
    );

  const nthMessage = async (count: number, lowest: string | null): Promise<string | null> => {
    const [row] = await database.read(
      (orm) =>
        orm
          .select({ id: emailMessages.id })
          .from(emailMessages)
          .where(and(...ownMessages, lowest === null ? undefined : gte(emailMessages.id, lowest)))
          .orderBy(desc(emailMessages.id))
          .offset(count - 1)
          .limit(1),
      PREPARED,
    );
    return row?.id ?? null;
  };

  /** Joined in the same statement, the messages of all days are planned for, though the page's are asked for one by one. */
  const withMessages = async (rows: readonly OwnRow[]): Promise<EmailItemRow[]> => {
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) return [];
    const messages = await database.read(
      (orm) =>
        orm
          .select({ id: emailMessages.id, ...columnsOfMessage })
          .from(emailMessages)
          .where(
            and(
              // The bounds leave out days before any plan is made for them.
              lte(emailMessages.id, first.id),
              gte(emailMessages.id, last.id),
              sql`${emailMessages.id} = any(${sql.param(rows.map(({ id }) => id))}::text[])`,
            ),
          ),
      PREPARED,
    );
    const byId = new Map(messages.map((message) => [message.id, message]));
    return rows.flatMap((row) => {
      const message = byId.get(row.id);
      return message ? [{ ...row, ...message }] : [];
    });
  };

  return {
    newest,
    newestOfAll: async () => {
      const rows = await newest(near);
      return rows.length > limit ? rows : newest(null);
    },
    nthNewest: async (count: number) => (await nthMessage(count, near)) ?? (await nthMessage(count, null)),
    inState: async (lowest: string | null, leading?: SQL): Promise<EmailItemRow[]> => {
      const rows = await database.read((orm) => {
        // Asked of each email by itself, which opens its day alone: joined, all messages are read (95 ms of 100,000).
        const isAsked = orm
          .select({ found: sql`true` })
          .from(emailMessages)
          .where(and(eq(emailMessages.id, emails.id), ...ofMessage));
        return orm
          .select(columnsOfEmail)
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
          .limit(limit + 1);
      });
      return withMessages(rows);
    },
    nthInState: async (count: number) => {
      const [row] = await database.read(
        (orm) =>
          orm
            .select({ id: emails.id })
            .from(emails)
            .where(and(...ownEmails, ofState))
            .orderBy(desc(emails.id))
            .offset(count - 1)
            .limit(1),
        PREPARED,
      );
      return row?.id ?? null;
    },
  };
}
