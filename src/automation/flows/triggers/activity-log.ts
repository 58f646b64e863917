import { HORIZON } from '../../../sending/events/queries.ts';
import { EARLIER_CONTACT } from '../../../sending/suppressions/queries.ts';

// The statements that read the activity of contacts, in the order in which it became durable. No entry can
// appear before the horizon any more.

/** True when entries lie behind the follower's position, and the position up to which it may go. */
export const AHEAD = `with horizon as materialized (${HORIZON})
select exists (
  select from contact_activity a, horizon h where a.email_id is null and (a.position, a.id) > (f.position, f.id) and a.position < h.at
) as some, (select h.at::text from horizon h) as horizon from flow_feed f where f.one`;

/**
 * The log does not say why a contact matches a filter: a flow may have changed a contact, within the day
 * before, that has joined or left a dynamic audience.
 */
const BY_CHANGES = `case when a.by_machine then (
  select max((r.context ->> 'depth')::integer) + 1 from flow_runs r
  where r.contact_id = a.contact_id and r.started_at > a.at - interval '1 day' and exists (
    select from flow_run_log l where l.run_id = r.id and l.outcome in ('updated', 'added', 'removed'))
) end`;

/**
 * An entry. The properties of an event are the client's own, and must not be taken for ours. A person who had
 * left an audience before their contact was deleted does not leave it once more when the contact is made
 * again: no flow waits for that.
 */
const ENTRY = `a.position::text, a.id, a.contact_id as "contactId", a.livemode, a.subject,
  case when a.type = 'left' and a.data ->> 'source' = '${EARLIER_CONTACT}' then 'leftBefore' else a.type end as type,
  case when a.type in ('joined', 'left') then coalesce((a.data ->> 'depth')::integer, ${BY_CHANGES}, 0) else 0 end as depth,
  case when a.type = 'joined' then a.data ->> 'importId' end as "importId",
  (extract(epoch from a.at) * 1000)::float8 as at, a.test_clock_id as "testClockId"`;

/** $1 and $2: the place after which it continues; $3 the most entries. */
export const READ = `with horizon as materialized (${HORIZON})
select ${ENTRY}
from horizon h cross join lateral (
  select * from contact_activity
  where email_id is null and (position, id) > ($1::bigint, $2::text) and position < h.at
  order by position, id limit $3::integer
) a order by a.position, a.id`;

/**
 * The same up to a place, $3 and $4, with whether the contact is one of the workspace $5; $6 how many entries
 * at most.
 */
export const READ_OF_WORKSPACE = `select ${ENTRY}, exists (
  select from contacts c where c.workspace_id = $5 and c.livemode = a.livemode and c.id = a.contact_id
) as "isOwn"
from (
  select * from contact_activity
  where email_id is null and (position, id) > ($1::bigint, $2::text) and (position, id) <= ($3::bigint, $4::text)
  order by position, id limit $6::integer
) a order by a.position, a.id`;

/**
 * The entries that a test clock has yet to follow, $1, in the order in which they were written; $2 how many
 * entries at most.
 */
export const READ_OF_CLOCK = `select ${ENTRY} from contact_activity a
where a.test_clock_id = $1 and a.awaits_clock order by a.position, a.id limit $2::integer`;

/** The clock has followed these entries: $1 their contacts, $2 their ids. */
export const FOLLOWED_BY_CLOCK = `update contact_activity a set awaits_clock = false
from unnest($1::text[], $2::text[]) as f(contact_id, id) where a.contact_id = f.contact_id and a.id = f.id`;
