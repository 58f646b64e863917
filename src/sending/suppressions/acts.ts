import type { WithheldReason } from '../../../machines/email/recipient.ts';
import type { LearnedReason, SuppressionReason } from '../../../machines/email/rules.ts';
import { BatchedRead } from '../../platform/async/batched-read.ts';
import type { Database } from '../../platform/db/database.ts';

/**
 * The acts that keep mail from a person. Each is a row that some request, report or link has written. A row
 * that is not there says nothing: members go with a deleted audience, and contacts with a deleted workspace,
 * without anyone having left.
 */
export type Act = Exclude<WithheldReason, 'invalid' | 'excluded' | 'cancelled'>;

/** The act that each reason for a suppression records. */
export const ACT_OF_SUPPRESSION: Readonly<Record<SuppressionReason, Act>> = {
  complained: 'complained',
  bounced: 'bounced',
  unsubscribed: 'unsubscribed',
  manual: 'suppressed',
};

/** The act that each status of a contact records; null where it keeps no mail away. */
export const ACT_OF_STATUS: Readonly<Record<'subscribed' | LearnedReason, Act | null>> = {
  subscribed: null,
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  complained: 'complained',
};

/** SQL of the value in a table; null for a value that the table lacks, or maps to null. */
const mapped = (value: string, table: Readonly<Record<string, string | null>>): string =>
  `case ${value} ${Object.entries(table)
    .flatMap(([from, to]) => (to === null ? [] : [`when '${from}' then '${to}'`]))
    .join(' ')} end`;

/**
 * The record in the activity that a person left an audience: by which page, and by the link of which
 * campaign.
 */
export interface OwnLeaving {
  readonly source: string;
  readonly campaignId?: string | null;
}

/** The source of a leaving by a person whose contact was deleted since, and made again. */
export const EARLIER_CONTACT = 'earlier contact';

/**
 * SQL that is true where the person left by themselves. Acts of the workspace or a flow name neither a source
 * nor a campaign.
 */
const isOwnSql = (data: string): string =>
  `coalesce(${data} ->> 'source', ${data} ->> 'campaignId') is not null`;

/** SQL of something of the latest entry `act` of this kind in the activity of a contact. */
const latestSql =
  (kind: string) =>
  (contactId: string, what: string): string =>
    `(select ${what} from contact_activity act
  where act.contact_id = ${contactId} and ${kind} order by act.position desc, act.id desc limit 1)`;

/** SQL of something of the latest unsubscription in the activity `act` of a contact. */
export const lastUnsubscriptionSql = latestSql(`act.type = 'unsubscribed'`);

/** The same of the latest leaving: a file may tell of one too. */
export const lastLeavingSql = latestSql(
  `(act.type = 'unsubscribed' or act.type = 'imported' and act.data ->> 'status' is not null)`,
);

/** The entries that may tell of a consent. */
const MAY_CONSENT = `'created', 'imported', 'subscribed', 'joined'`;

/**
 * SQL that is true where the activity of a contact tells last that the person unsubscribed, and of no consent
 * since.
 */
export const isUnsubscribedLastSql = (contactId: string): string =>
  `coalesce(${latestSql(`act.type in ('unsubscribed', ${MAY_CONSENT})`)(contactId, `act.type = 'unsubscribed' and act.data is not null`)}, false)`;

/** True for the moment of a consent that PostgreSQL can read; RFC 3339 allows offsets from 16 hours on. */
const READABLE = `~* '(z|[+-](0[0-9]|1[0-5]):?[0-9]{2})$'`;

/**
 * SQL that is true where a contact's activity tells of this consent, or of a later one, before an entry about
 * a leaving: the consent undoes no such leaving, also one that is dated earlier because a clock was behind.
 * `entry` names a row of `contact_activity`. Files tell of consents to come: such a one counts as late as it
 * became known.
 */
export const isKnownBeforeSql = (entry: string, agreedAt: string): string => `exists (
  select from contact_activity said
  cross join lateral (select coalesce(said.data -> 'consent', said.data) ->> 'at' as at) given
  cross join lateral (select case when given.at ${READABLE} then given.at::timestamptz end as at) known
  where said.contact_id = ${entry}.contact_id and said.type in (${MAY_CONSENT})
    and said.position < ${entry}.position
    and (known.at = ${agreedAt} or known.at >= ${agreedAt} and said.at >= ${agreedAt}))`;

/**
 * SQL: the workspace unsubscribed the contact itself, and the person has not since: that it may take back.
 * Its act has no data, and that of a person names the source.
 */
export const leftByWorkspaceSql = (contactId: string, leftAt: string): string =>
  `coalesce(${lastUnsubscriptionSql(contactId, `act.data is null and act.at = ${leftAt}`)}, false)`;

/**
 * SQL: the person has left everything by their own act, or a file tells of it. `contact` names a row of
 * `contacts`. One who begins unsubscribed because a file knows of no consent has left nothing: the moment is
 * that of the contact, and no suppression is there.
 */
export const hasLeftEverythingSql = (contact: string): string => `(${contact}.status = 'unsubscribed'
  and not ${leftByWorkspaceSql(`${contact}.id`, `${contact}.unsubscribed_at`)}
  and (${contact}.unsubscribed_at is distinct from ${contact}.created_at or ${contact}.livemode and exists (
    select from suppressions known where known.workspace_id = ${contact}.workspace_id and known.address_key = ${contact}.email_key)))`;

/** SQL texts that name a contact and an audience. */
interface Membership {
  readonly contactId: string;
  readonly audienceId: string;
  /** The id of a row that is older than the question: no activity before it is read. */
  readonly since?: string;
  /**
   * True where the row of the contact is locked before: changes that were committed during the wait for the
   * lock count as well.
   */
  readonly isLocked?: true;
}

const latestEntrySql = ({ contactId, audienceId, since, isLocked }: Membership): string =>
  isLocked
    ? `select entry.type, entry.data from latest_membership(${contactId}, ${audienceId}) entry where entry.type is not null`
    : `select entry.type, entry.data from contact_activity entry
    where entry.contact_id = ${contactId} and entry.subject = ${audienceId} and entry.type in ('joined', 'left')${
      since === undefined ? '' : ` and entry.id >= 'act' || substr(${since}, strpos(${since}, '_'), 11)`
    }
    order by entry.position desc, entry.id desc limit 1`;

/**
 * SQL of the act by which a contact left a static audience: `unsubscribed` for the person's own, `removed`
 * for all others; null for a contact that has not left, or has joined again. It reads the activity, since the
 * members are deleted with their audience.
 */
export const audienceActSql = (membership: Membership): string => `(
  select case when latest.type = 'joined' then null when ${isOwnSql('latest.data')} then 'unsubscribed' else 'removed' end from (
    ${latestEntrySql(membership)}
  ) latest)`;

/** SQL: the person has left an audience by their own act: no file and no flow lets them in again. */
export const hasLeftSql = (membership: Membership): string =>
  `coalesce(${audienceActSql(membership)} = 'unsubscribed', false)`;

/**
 * SQL of the audiences that a person has left by their own act and not joined since: a JSON object of moments
 * by the ids of audiences; null without one.
 */
export const leftAudiencesSql = (contactId: string): string => `(
  select json_object_agg(latest.subject, latest.at) from (
    select distinct on (entry.subject) entry.subject, entry.type, entry.at, entry.data from contact_activity entry
    where entry.contact_id = ${contactId} and entry.type in ('joined', 'left')
    order by entry.subject, entry.position desc, entry.id desc
  ) latest where latest.type = 'left' and ${isOwnSql('latest.data')})`;

/** SQL texts that a contact is judged by. */
export interface ContactSql {
  /** The name of a row of `contacts`, whose columns are null where there is none. */
  readonly contact: string;
  readonly contactId: string;
  /**
   * SQL of whether the contact was forgotten, where it is not there; the erasures that are under way by
   * default.
   */
  readonly isForgotten?: string;
  /**
   * The audience that the mail goes to, where that is one that can be left. Null at run time for any other.
   */
  readonly audience?: Omit<Membership, 'contactId'>;
}

/**
 * SQL that is true where a row matches, found by an index each time it is asked. For the dozen contacts of a
 * batch `exists` reads the whole table into a hash first, since the planner expects a hundred of them: 23 ms
 * for an audience of 20,000.
 */
const looksUpSql = (rows: string): string => `coalesce((select true from ${rows} limit 1), false)`;

/**
 * SQL of whether a contact is being forgotten: its erasure lasts as long as an email to it is open
 * (src/audience/contacts/forgetting/eraser.ts).
 */
export const isBeingForgottenSql = (contactId: string): string =>
  looksUpSql(`erasures erasing where erasing.contact_id = ${contactId}`);

/**
 * SQL of whether a contact is in an audience, of which most are: only for the others the activity is read.
 */
const isMemberSql = ({ contactId, audienceId }: Membership): string =>
  looksUpSql(`audience_members member
  where member.audience_id = ${audienceId} and member.contact_id = ${contactId} and member.state = 'joined'`);

/**
 * SQL of the act by which a contact left the audience whose joining began a flow, at each step and each
 * attempt; null where there is neither. The person's own act alone counts. Most are in the audience: for the
 * others alone the activity is read.
 */
export const leftListActSql = (membership: Membership): string =>
  `case when ${membership.audienceId} is not null and not ${isMemberSql(membership)} and ${hasLeftSql(membership)}
    then 'unsubscribed' end`;

/**
 * SQL of the act that keeps list mail from a contact; null where there is none. It decides for campaigns and
 * flows alike, at freezing, dispatch, each step and each attempt. A suppression that is known by its hash
 * alone is found only where the hash can be made (src/sending/emails/send/reader.ts).
 */
export const actSql = ({
  contact,
  contactId,
  isForgotten = isBeingForgottenSql(contactId),
  audience,
}: ContactSql): string => `case
  when ${contact}.id is null then case when ${isForgotten} then 'forgotten' end
  else coalesce(${mapped(`${contact}.status`, ACT_OF_STATUS)}, case when ${contact}.livemode then (
    select ${mapped('known.reason', ACT_OF_SUPPRESSION)} from suppressions known
    where known.workspace_id = ${contact}.workspace_id and known.address_key = ${contact}.email_key) end${
      audience === undefined
        ? ''
        : `, case when ${audience.audienceId} is not null and not ${isMemberSql({ ...audience, contactId })}
    then ${audienceActSql({ ...audience, contactId })} end`
    })
end`;

/** The words for each act in messages. */
export const ACT_WORDS: Readonly<Record<Act, string>> = {
  forgotten: 'the contact was deleted',
  complained: 'the recipient has reported an email as spam',
  bounced: 'an earlier email to the address bounced permanently',
  unsubscribed: 'the recipient has unsubscribed',
  suppressed: 'the address was suppressed manually',
  removed: 'the contact was removed from the audience',
};

/** A contact of the live environment. */
export interface LiveContact {
  readonly workspaceId: string;
  readonly contactId: string;
  /** The audience whose joining began the flow that sends to it; undefined for every other flow. */
  readonly audienceId: string | undefined;
}

const ASKED = `select a.ord, coalesce(${actSql({ contact: 'c', contactId: 'a.id' })}, ${leftListActSql({
  contactId: 'a.id',
  audienceId: 'a.audience',
})}) as act
from json_to_recordset($1::text::json) as a(ord integer, workspace text, id text, audience text)
left join lateral (
  select * from contacts c where c.workspace_id = a.workspace and c.livemode and c.id = a.id limit 1
) c on true`;

/**
 * The acts that keep list mail from contacts; concurrent calls share one read.
 * @throws UnavailableError
 */
export const readActs = (database: Pick<Database, 'query'>) =>
  new BatchedRead<LiveContact, Act | null>('acts of contacts', async (asked) => {
    const rows = await database.query<{ ord: number; act: Act | null }>(ASKED, [
      JSON.stringify(
        asked.map(({ workspaceId, contactId, audienceId }, ord) => ({
          ord,
          workspace: workspaceId,
          id: contactId,
          audience: audienceId,
        })),
      ),
    ]);
    const acts = new Map(rows.map(({ ord, act }) => [asked[ord], act]));
    return (contact) => acts.get(contact) ?? null;
  });
