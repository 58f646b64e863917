import { type Static, Type } from '@sinclair/typebox';
import { and, desc, eq, type SQL } from 'drizzle-orm';
import { PREPARED } from '../../db/database.ts';
import { contactActivity } from '../../db/schema/audience.ts';
import { type Failure, notFound } from '../../http/failure.ts';
import { listById, withinRange } from '../../http/list.ts';
import { pageQuery } from '../../http/pagination.ts';
import type { Call, Page } from '../../http/route.ts';
import { literals } from '../../http/schema.ts';
import { type ContactReader, findContact } from './contact-rows.ts';

/** What the activity of a contact tells of. The last six are events of emails, and so may `unsubscribed` be. */
export const ACTIVITY_TYPES = [
  ...(['created', 'imported', 'subscribed', 'unsubscribed', 'asked', 'joined', 'left', 'event'] as const),
  ...(['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const),
] as const;

/** One of them. */
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

const id = (of: string) => Type.Union([Type.String(), Type.Null()], { description: of });

/** One entry of the time line of a contact. */
export const Activity = Type.Object(
  {
    id: Type.String({ examples: ['act_01m7xj1rwzprnwr10308attx'] }),
    type: literals(ACTIVITY_TYPES),
    at: Type.String({ format: 'date-time', description: 'When it happened.' }),
    emailId: id('The email that it is about; null where it is about none.'),
    campaignId: id('The campaign of that email; null without one.'),
    audienceId: id('The audience that was joined or left, or that asked to be confirmed; null otherwise.'),
    importId: id('The import that it came with; null otherwise.'),
    name: id('The name of a custom event; null otherwise.'),
    byMachine: Type.Boolean({
      description:
        'True for an open or a click by a program that fetches, prefetches or scans on its own, and where the filter of a dynamic audience began or ceased to match.',
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What else is known: the properties of a custom event, the source of a consent, the URL of a click.',
    }),
  },
  { title: 'ContactActivity' },
);

/** The type of it. */
export type ActivityView = Static<typeof Activity>;

/** The query of the time line. */
export const ActivityQuery = Type.Object({
  ...pageQuery,
  type: Type.Optional(literals(ACTIVITY_TYPES, { description: 'Only entries of this type.' })),
});

/** The type of it. */
export type ActivityQuery = Static<typeof ActivityQuery>;

type Row = typeof contactActivity.$inferSelect;

const SUBJECT: Readonly<Partial<Record<string, 'audienceId' | 'importId' | 'name'>>> = {
  asked: 'audienceId',
  joined: 'audienceId',
  left: 'audienceId',
  imported: 'importId',
  event: 'name',
};

const activityOf = (row: Row): ActivityView => ({
  id: row.id,
  type: row.type as ActivityType,
  at: row.at.toISOString(),
  emailId: row.emailId,
  campaignId: row.campaignId,
  audienceId: null,
  importId: null,
  name: null,
  ...(SUBJECT[row.type] && { [SUBJECT[row.type] as string]: row.subject }),
  byMachine: row.byMachine,
  data: (row.data ?? {}) as Record<string, unknown>,
});

type ActivityCall = Call<{ readonly contact: string }, ActivityQuery>;

/** Lists the activity of a contact, newest first. */
export function listActivity(
  reader: ContactReader,
  call: ActivityCall,
): Promise<Page<ActivityView> | Failure> {
  const ofType = call.query.type === undefined ? [] : [eq(contactActivity.type, call.query.type)];
  return listById(call, {
    list: `contacts/${call.params.contact}/activity`,
    prefix: 'act',
    rows: async (range, limit) => {
      const contact = await findContact(reader, call.caller, call.params.contact);
      if (!contact) return notFound('contact');
      const ofContact: SQL[] = [eq(contactActivity.contactId, contact.id), ...ofType];
      return reader.database.read(
        (orm) =>
          orm
            .select()
            .from(contactActivity)
            .where(and(...ofContact, ...withinRange(contactActivity.id, range)))
            .orderBy(desc(contactActivity.id))
            .limit(limit),
        PREPARED,
      );
    },
    item: activityOf,
  });
}
