import { type Static, Type } from '@sinclair/typebox';
import { EMAIL_EVENT_TYPES } from '../../../../machines/email/recipient.ts';
import { listById } from '../../../http/lists/list.ts';
import { pageQuery } from '../../../http/lists/pagination.ts';
import type { Call, Page } from '../../../http/request/route.ts';
import { literals } from '../../../http/request/schema.ts';
import { timePartSql } from '../../../platform/db/ids.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import type { contactActivity } from '../../../platform/db/schema/contacts.ts';
import { type Failure, notFound } from '../../../platform/errors/failure.ts';
import { type ContactReader, findContact } from '../lists/contact-rows.ts';

/** A type of event does not compile until the table has it. */
type StoredType = (typeof contactActivity.$inferSelect)['type'];

/**
 * The entries of a contact's activity that are stored: those behind `event` are events of emails, as
 * `unsubscribed` may be.
 */
export const ACTIVITY_TYPES = [
  'created',
  'imported',
  'subscribed',
  'unsubscribed',
  'asked',
  'notAsked',
  'joined',
  'left',
  'event' as const,
  'replied' as const,
  ...EMAIL_EVENT_TYPES.filter((type) => type !== 'unsubscribed'),
] satisfies readonly StoredType[];

/** The entries that are read from the runs of flows, by the end of the run. */
const RUN_TYPES = ['flowStarted', 'flowCompleted', 'flowExited', 'flowFailed', 'flowCancelled'] as const;

const ENTRY_TYPES = [...ACTIVITY_TYPES, ...RUN_TYPES] as const;

const id = (of: string) => Type.Union([Type.String(), Type.Null()], { description: of });

/** One entry of the time line of a contact. */
export const Activity = Type.Object(
  {
    id: Type.String({ examples: ['act_01m7xj1rwzprnwr10308attx'] }),
    type: literals(ENTRY_TYPES),
    at: Type.String({ format: 'date-time', description: 'When it happened.' }),
    emailId: id('The email that it is about, or that was replied to; null where it is about none.'),
    campaignId: id('The campaign of that email; null without one.'),
    audienceId: id('The audience that was joined or left, or that asks to be confirmed; null otherwise.'),
    importId: id('The import that it came with; null otherwise.'),
    flowId: id('The flow whose run began or ended; null otherwise.'),
    runId: id('That run; null otherwise.'),
    name: id('The name of a custom event, or of the flow; null otherwise.'),
    byMachine: Type.Boolean({
      description:
        'True for an open or a click by a program that fetches, prefetches or scans on its own, and where the filter of a dynamic audience began or ceased to match.',
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Further facts: the properties of a custom event, the source of a consent, the URL of a click, the `receivedId` of a reply, the `reason` why a run ended or why no mail to confirm was sent (`suppressed`, `asked_often`: three times within a day, `no_sender`, `sender_unverified`, `quota_exceeded`, or a sentence).',
    }),
  },
  { title: 'ContactActivity' },
);

export type ActivityView = Static<typeof Activity>;

/** The query of the time line. */
export const ActivityQuery = Type.Object({
  ...pageQuery,
  type: Type.Optional(literals(ENTRY_TYPES, { description: 'Only entries of this type.' })),
});

export type ActivityQuery = Static<typeof ActivityQuery>;

interface Row {
  readonly id: string;
  readonly type: (typeof ENTRY_TYPES)[number];
  /** Epoch milliseconds. */
  readonly at: number;
  readonly subject: string | null;
  readonly email_id: string | null;
  readonly campaign_id: string | null;
  readonly run_id: string | null;
  readonly flow_name: string | null;
  readonly by_machine: boolean;
  readonly data: Record<string, unknown> | null;
}

type Subject = 'audienceId' | 'importId' | 'flowId' | 'name';

const SUBJECT: Readonly<Partial<Record<string, Subject>>> = {
  asked: 'audienceId',
  notAsked: 'audienceId',
  joined: 'audienceId',
  left: 'audienceId',
  imported: 'importId',
  event: 'name',
  ...Object.fromEntries(RUN_TYPES.map((type) => [type, 'flowId' as const])),
};

/** A reply stays with the contact when its email is deleted: its entry names the email in the data alone. */
const repliedTo = ({ type, data }: Row): string | null =>
  type === 'replied' && typeof data?.emailId === 'string' ? data.emailId : null;

const activityOf = (row: Row): ActivityView => ({
  id: row.id,
  type: row.type,
  at: new Date(row.at).toISOString(),
  emailId: row.email_id ?? repliedTo(row),
  campaignId: row.campaign_id,
  audienceId: null,
  importId: null,
  flowId: null,
  runId: row.run_id,
  name: row.flow_name,
  ...(SUBJECT[row.type] && { [SUBJECT[row.type] as string]: row.subject }),
  byMachine: row.by_machine,
  data: row.data ?? {},
});

/** The entry of a run's end is named by the moment, and is never the entry of its beginning. */
const END_ID = `'act_' || ${timePartSql(`greatest(r.ended_at, r.started_at + interval '1 millisecond')`)} || substr(r.id, 15)`;

/**
 * $1 the contact, $2 a type or null, $3 below this id, $4 from this id on, $5 how many. Runs of flows are
 * read where they are: written down a second time, whatever follows the activity of contacts would read what
 * flows did as something that the contact did.
 */
const PAGE = `select e.*, (extract(epoch from e.moment) * 1000)::float8 as at,
  case when e.run_id is not null then (select f.name from flows f where f.id = e.subject) end as flow_name
from (
  (
    select a.id, a.type, a.at as moment, a.subject, a.email_id, a.campaign_id, null as run_id, a.by_machine, a.data
    from contact_activity a where a.contact_id = $1 and a.id < $3 and a.id >= $4 and ($2::text is null or a.type = $2)
    order by a.id desc limit $5::integer
  ) union all (
    select 'act_' || substr(r.id, 5), 'flowStarted', coalesce(r.clock_started_at, r.started_at), r.flow_id, null, null, r.id, false, null
    from flow_runs r where r.contact_id = $1 and r.id < 'run_' || substr($3, 5) and r.id >= 'run_' || substr($4, 5)
      and ($2::text is null or $2 = 'flowStarted')
    order by r.id desc limit $5::integer
  ) union all (
    select * from (
      select ${END_ID} as id, 'flow' || initcap(r.status) as type, r.ended_at, r.flow_id, null, null, r.id as run_id, false,
        case when r.context ->> 'reason' is not null then json_build_object('reason', r.context ->> 'reason') end
      from flow_runs r where r.contact_id = $1 and r.ended_at is not null
    ) r where r.id < $3 and r.id >= $4 and ($2::text is null or r.type = $2)
    order by r.id desc limit $5::integer
  )
) e order by e.id desc limit $5::integer`;

/** Below and above every id of an entry. */
const FIRST = 'act_';
const LAST = 'act_~';

type ActivityCall = Call<{ readonly contact: string }, ActivityQuery>;

/** Lists the activity of a contact, newest first. */
export const listActivity = (
  reader: ContactReader & { readonly reads: Reads },
  call: ActivityCall,
): Promise<Page<ActivityView> | Failure> =>
  listById(call, {
    list: `contacts/${call.params.contact}/activity`,
    prefix: 'act',
    rows: async ({ below, from }, limit) => {
      const contact = await findContact(reader, call.caller, call.params.contact);
      if (!contact) return notFound('contact');
      const { type = null } = call.query;
      return reader.reads.query<Row>(PAGE, [contact.id, type, below ?? LAST, from ?? FIRST, limit]);
    },
    item: activityOf,
  });
