// The statements by which instances exchange watched environments and commits. All times are the database's.

/** A watch ends this long after its last renewal. */
const LEASE = `interval '30 seconds'`;
/** News that its author has not deleted after this time is deleted by any other instance. */
const WORTH = `interval '30 seconds'`;
/** The number of environments that are reported at once, over all instances: those watched longest. */
export const MOST_WATCHED = 500;

/** The lower bound prevents a clock that jumped back from keeping a watch alive for ever. */
const IS_WATCHED = `until between clock_timestamp() and clock_timestamp() + ${LEASE}`;
const IS_WORTH = `at between clock_timestamp() - ${WORTH} and clock_timestamp() + ${WORTH}`;

/**
 * The environments that are watched, each with whether another instance than $1 does; where $2 is true,
 * whether something is left over.
 */
export const LOOK = `with watched as (
  select workspace_id, livemode, min(since) as since, bool_or(instance_id <> $1) as elsewhere from live_watches
  where ${IS_WATCHED} group by 1, 2 order by 3, 1, 2 limit ${MOST_WATCHED}
)
select coalesce((select json_agg(json_build_array(workspace_id, livemode, elsewhere)) from watched), '[]')::text as watched,
  $2::boolean and (exists (select from live_watches where not ${IS_WATCHED}) or exists (select from live_news where not ${IS_WORTH})) as littered`;

/** The rows of dead instances. Several instances may notice at once, and none waits for another. */
export const TIDY = `with watches as (
  delete from live_watches where ctid in (select ctid from live_watches where not ${IS_WATCHED} for update skip locked)
)
delete from live_news where ctid in (select ctid from live_news where not ${IS_WORTH} for update skip locked)`;

const SCOPES = `json_to_recordset($2::text::json) as m("workspaceId" text, livemode boolean)`;

/** Says what is watched through $1: exactly the environments of $2. */
export const WATCH = `with mine as (select * from ${SCOPES}), over as (
  delete from live_watches w where w.instance_id = $1
    and not exists (select from mine m where m."workspaceId" = w.workspace_id and m.livemode = w.livemode)
)
insert into live_watches as w (workspace_id, livemode, instance_id, since, until)
select "workspaceId", livemode, $1, clock_timestamp(), clock_timestamp() + ${LEASE} from mine order by 1, 2
on conflict (workspace_id, livemode, instance_id) do update
set since = case when w.${IS_WATCHED} then w.since else excluded.since end, until = excluded.until`;

/**
 * Writes news of $1 under the number $2. A repeat after a lost reply changes nothing: it waits for the first
 * one and finds its rows.
 */
export const TELL = `insert into live_news (workspace_id, livemode, instance_id, number, at, news)
select "workspaceId", livemode, $1, $2, clock_timestamp(), news
from json_to_recordset($3::text::json) as m("workspaceId" text, livemode boolean, news json) order by 1, 2
on conflict do nothing`;

/** Deletes the news of $1 up to $2. */
export const TAKE_BACK = 'delete from live_news where instance_id = $1 and number <= $2';

/**
 * The news of other instances than $1 about the environments of $2, after the numbers of $3. An instance
 * writes one item after another, so its numbers are committed in order, and no item appears behind one that
 * was read.
 */
export const HEAR = `select n.workspace_id as "workspaceId", n.livemode, n.instance_id as instance, n.number, n.news::text as news
from live_news n
join ${SCOPES} on n.workspace_id = m."workspaceId" and n.livemode = m.livemode
left join json_to_recordset($3::text::json) as h(instance text, number integer) on h.instance = n.instance_id
where n.instance_id <> $1 and n.number > coalesce(h.number, -1) order by n.instance_id, n.number`;

export const LEAVE = 'delete from live_watches where instance_id = $1';
