import { and, type SQL, sql } from 'drizzle-orm';
import { matchAudience } from '../../../audience/audiences/queries.ts';
import { ownContacts, type Scope } from '../../../audience/contacts/queries.ts';
import { type Database, execute } from '../../../platform/db/database.ts';
import { contacts } from '../../../platform/db/schema/contacts.ts';
import { actSql } from '../../../sending/suppressions/queries.ts';
import type { CampaignSettings } from '../settings.ts';
import { addressHash } from './follow-emails.ts';

/** Contacts that one statement freezes: some 100 ms, in which no other work waits. */
const WINDOW = 5_000;

/** The audiences of a campaign, and those that it excludes. */
export interface CampaignAudience {
  readonly scope: Scope;
  /** The static audience whose rows are walked along; null where a filter chooses. */
  readonly staticId: string | null;
  /** Over `contacts`. */
  readonly condition: SQL;
  readonly excluded: SQL;
}

/**
 * Reads the audiences of a campaign; null when one of them was deleted, or one that its filter names: without
 * the excluded audience, its contacts would get the campaign.
 * @throws UnavailableError
 */
export async function choose(
  database: Database,
  scope: Scope,
  { audienceId, excludeAudienceIds }: Pick<CampaignSettings, 'audienceId' | 'excludeAudienceIds'>,
  now: number,
): Promise<CampaignAudience | null> {
  const audience = await matchAudience({ database }, scope, audienceId, now);
  if (!audience?.isReadable) return null;
  const others = await Promise.all(
    excludeAudienceIds.map((id) => matchAudience({ database }, scope, id, now)),
  );
  if (others.some((other) => !other?.isReadable)) return null;
  const conditions = others.flatMap((other) => (other ? [sql`(${other.condition}) is true`] : []));
  return {
    scope,
    staticId: audience.isStatic ? audienceId : null,
    condition: audience.condition,
    excluded: conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`,
  };
}

/**
 * The reason why a contact gets nothing; null for one who may get mail. An act of the person comes before the
 * choice of the campaign.
 */
const reasonOf = ({ excluded }: CampaignAudience): SQL =>
  sql`coalesce(${ACT}, case when ${excluded} then 'excluded' end)`;
const ACT = sql.raw(actSql({ contact: 'contacts', contactId: 'contacts.id' }));

/**
 * Counts the contacts that would get it, were it sent now. No more than `most` are counted: of 400,000 that
 * took 2.2 s, and a statement may take six.
 * @throws UnavailableError
 */
export async function countSendable(
  database: Database,
  chosen: CampaignAudience,
  most: number,
): Promise<number> {
  const [row] = await execute<{ count: number }>(
    database,
    sql`select count(*)::float8 as count from (
      select from ${contacts} where ${and(ownContacts(chosen.scope), chosen.condition)} and (${reasonOf(chosen)}) is null limit ${most}
    ) c`,
  );
  return row?.count ?? 0;
}

/** A member of contacts that content uses. */
export type UsedMember = { readonly column: string } | { readonly property: string };

/**
 * Counts the contacts for whom members are empty, among at most `most` of those that would get it, were it
 * sent now.
 * @throws UnavailableError
 */
export async function countEmpty(
  database: Database,
  chosen: CampaignAudience,
  members: readonly UsedMember[],
  most: number,
): Promise<{ readonly total: number; readonly empty: readonly number[] }> {
  const counts = members.map((member, index) => {
    const value =
      'column' in member ? sql`c.${sql.identifier(member.column)}` : sql`c.properties ->> ${member.property}`;
    return sql`count(*) filter (where coalesce(${value}, '') = '')::float8 as ${sql.identifier(`n${index}`)}`;
  });
  const [row] = await execute<Record<string, number>>(
    database,
    sql`select count(*)::float8 as total, ${sql.join(counts, sql`, `)} from (
      select contacts.* from ${contacts} where ${and(ownContacts(chosen.scope), chosen.condition)} and (${reasonOf(chosen)}) is null limit ${most}
    ) c`,
  );
  return { total: row?.total ?? 0, empty: members.map((_, index) => row?.[`n${index}`] ?? 0) };
}

/** A turn of work that freezes an audience. */
export interface FreezeTurn {
  readonly campaignId: string;
  readonly attempt: number;
  /** The start of the campaign (epoch milliseconds): later contacts are not in. */
  readonly startedAt: number;
}

/**
 * Freezes the next contacts behind one, in the order of their ids; answers how far it came, or null at the
 * end. `lost`: another turn has the campaign. A lock on the campaign keeps a turn that was given up from
 * adding anybody after the audience was complete. Contacts are looked up one by one and by their key: joined
 * to tables that had just been filled, and were not analysed yet, each window took longer than a statement
 * may, and a campaign to 100,000 was never prepared.
 * @throws UnavailableError
 */
export async function freezeNext(
  database: Database,
  chosen: CampaignAudience,
  { campaignId, attempt, startedAt }: FreezeTurn,
  after: string,
): Promise<string | null | 'lost'> {
  const { scope, staticId, condition } = chosen;
  const until = new Date(startedAt).toISOString();
  const walked =
    staticId === null
      ? sql`select c.id, true as is_in from contacts c where c.workspace_id = ${scope.workspaceId} and c.livemode = ${scope.livemode}
          and c.id > ${after} order by c.id limit ${WINDOW}`
      : sql`select m.contact_id as id, m.state = 'joined' and m.since <= ${until}::timestamptz as is_in from audience_members m
          where m.audience_id = ${staticId} and m.contact_id > ${after} order by m.contact_id limit ${WINDOW}`;
  const isIn =
    staticId === null
      ? sql`${contacts.createdAt} <= ${until}::timestamptz and (${condition}) is true`
      : sql`true`;
  const [row] = await execute<{ fenced: number; walked: number; last: string | null }>(
    database,
    sql`with fence as materialized (
      select c.id from campaigns c where c.id = ${campaignId} and c.state = 'preparing' and c.attempt = ${attempt}::integer for share
    ), walked as materialized (${walked}), chosen as materialized (
      select ${contacts.id} as id, ${contacts.emailKey} as email_key, ${reasonOf(chosen)} as reason
      from walked w cross join lateral (
        select * from contacts c where c.workspace_id = ${scope.workspaceId} and c.livemode = ${scope.livemode}
          and c.id >= w.id and c.id <= w.id order by c.id limit 1
      ) contacts where w.is_in and ${ownContacts(scope)} and ${isIn}
    ), frozen as (
      insert into campaign_recipients (campaign_id, contact_id, address_hash, state, reason)
      select f.id, h.id, ${sql.raw(addressHash('h.email_key'))}, case when h.reason is null then 'waiting' else 'skipped' end, h.reason
      from fence f cross join chosen h order by h.id
      on conflict do nothing returning state
    ), tallied as (
      insert into campaign_tallies (campaign_id, total, remaining, skipped)
      select ${campaignId}::text, count(*), count(*) filter (where state = 'waiting'), count(*) filter (where state = 'skipped')
      from frozen having count(*) > 0
    )
    select (select count(*) from fence)::integer as fenced, (select count(*) from walked)::integer as walked,
      (select max(id) from walked) as last`,
  );
  if (!row || row.fenced === 0) return 'lost';
  return row.walked < WINDOW ? null : row.last;
}

/**
 * $1 campaign, $2 turn. From the end, so that a turn that freezes on misses no recipient behind the last one.
 */
const THAW = `with fence as materialized (
  select c.id from campaigns c where c.id = $1 and c.state = 'preparing' and c.attempt = $2::integer for share
), latest as materialized (
  select r.campaign_id, r.contact_id from campaign_recipients r where r.campaign_id = $1 order by r.contact_id desc limit ${WINDOW}
), thawed as (
  delete from campaign_recipients r using fence f, latest l
  where l.campaign_id = f.id and r.campaign_id = l.campaign_id and r.contact_id = l.contact_id returning r.state
), tallied as (
  insert into campaign_tallies (campaign_id, total, remaining, skipped)
  select $1::text, -count(*), -count(*) filter (where state = 'waiting'), -count(*) filter (where state = 'skipped')
  from thawed having count(*) > 0
)
select count(*)::integer as count from thawed`;

/**
 * Deletes the frozen recipients of a start that is refused in the end: the next start has to read every
 * contact as it is then. False when the turn is over before all are deleted.
 * @throws UnavailableError
 */
export async function thawAll(
  database: Database,
  { campaignId, attempt }: Omit<FreezeTurn, 'startedAt'>,
  isOver: () => boolean,
): Promise<boolean> {
  for (;;) {
    const [row] = await database.query<{ count: number }>(THAW, [campaignId, attempt]);
    if ((row?.count ?? 0) < WINDOW) return true;
    if (isOver()) return false;
  }
}
