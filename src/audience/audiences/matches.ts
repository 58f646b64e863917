import { type SQL, sql } from 'drizzle-orm';
import { type Database, execute } from '../../platform/db/database.ts';
import { timePart } from '../../platform/db/ids.ts';
import { contacts } from '../../platform/db/schema/contacts.ts';
import { ownContacts, type Scope } from '../contacts/queries.ts';

/** A dynamic audience as its contacts are asked for it. */
export interface FollowedAudience {
  readonly id: string;
  /** Its contacts, as a condition on `contacts`. */
  readonly condition: SQL;
  /**
   * When its filter became what it is, where whom that matched to begin with is not known yet; null once it
   * is.
   */
  readonly since: string | null;
}

/** Some contacts of an environment, in the order of their ids. */
export interface Stretch extends Scope {
  readonly after: string;
  readonly most: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The evaluated contacts. */
export interface MatchScan {
  /** The id of the last one; null where there are no more. */
  readonly last: string | null;
  readonly contacts: number;
  /** The number of recorded changes. */
  readonly noted: number;
}

/**
 * Asks contacts for all dynamic audiences at once, and compares with whom each matched before: who begins or
 * ceases to match has joined or left, which is written into the activity in the same commit. While an
 * audience is not followed yet, that is written only of contacts that were made after its filter: of the
 * others it is not known how they stood before. Of two instances that look at the same contact, the one that
 * comes second writes nothing, and a contact that was forgotten meanwhile stays forgotten. @throws
 * UnavailableError
 */
export async function noteMatches(
  database: Database,
  { workspaceId, livemode, after, most, now }: Stretch,
  audiences: readonly FollowedAudience[],
): Promise<MatchScan> {
  const own = ownContacts({ workspaceId, livemode });
  const matched = audiences.map(
    ({ id, condition }) => sql`case when (${condition}) then ${id}::text collate "C" end`,
  );
  const texts = (values: readonly string[]) => sql`${sql.param(values)}::text[]`;
  const at = sql`${new Date(now).toISOString()}::text::timestamptz`;
  const statement = sql`with looked as materialized (
    select contacts.id, contacts.created_at, array_remove(array[${sql.join(matched, sql`, `)}], null) as matched
    from (select * from ${contacts} where ${own} and ${contacts.id} > ${after} order by id limit ${most}) contacts
  ), changed as materialized (
    select l.id, l.created_at, l.matched, coalesce(m.audience_ids, '{}') as known
    from looked l left join audience_matches m
      on m.workspace_id = ${workspaceId} and m.livemode = ${livemode} and m.contact_id = l.id
        and m.contact_id > ${after} and m.contact_id <= (select max(id) from looked)
    where l.matched <> coalesce(m.audience_ids, '{}')
  ), stored as (
    insert into audience_matches as m (workspace_id, livemode, contact_id, audience_ids)
    select contacts.workspace_id, contacts.livemode, contacts.id, c.matched
    from changed c join ${contacts} on ${own} and contacts.id = c.id order by c.id for key share of contacts
    on conflict (workspace_id, livemode, contact_id) do update set audience_ids = excluded.audience_ids
      where m.audience_ids = (select c.known from changed c where c.id = excluded.contact_id)
    returning contact_id
  ), moved as (
    select c.id, c.created_at, x.audience_id, x.type from changed c join stored s on s.contact_id = c.id
    cross join lateral (
      (select unnest(c.matched) as audience_id, 'joined' as type except select unnest(c.known), 'joined')
      union all
      (select unnest(c.known), 'left' except select unnest(c.matched), 'left')
    ) x
  ), noted as (
    insert into contact_activity (contact_id, id, livemode, type, at, subject, by_machine)
    select m.id, ${`act_${timePart(now)}`}::text || substr(md5(m.audience_id || m.id), 1, 14), ${livemode}, m.type, ${at},
      m.audience_id, true
    from moved m join unnest(${texts(audiences.map(({ id }) => id))}, ${texts(audiences.map(({ since }) => since ?? ''))})
      as a(id, since) on a.id = m.audience_id
    where a.since = '' or m.created_at > a.since::timestamptz
    on conflict (contact_id, id) do nothing returning 1
  )
  select (select max(id) from looked) as last, (select count(*) from looked)::float8 as contacts,
    (select count(*) from noted)::float8 as noted`;
  const [looked] = await execute<MatchScan>(database, statement);
  return looked ?? { last: null, contacts: 0, noted: 0 };
}
