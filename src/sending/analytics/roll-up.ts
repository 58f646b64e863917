import { afterWork } from '../../engine/duties/after-work.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import type { Database } from '../../platform/db/database.ts';
import { HORIZON } from '../events/queries.ts';
import { COUNTS, DIMENSIONS, FRESH_TAGS, hourOf, partsCtes, SCOPES, SUMS } from './counting.ts';

/**
 * The most emails, and the most turns, that one statement adds up: those who send wait for a connection
 * meanwhile.
 */
const BATCH = 1_000;

/**
 * The workspaces with rows that have not been added up, each with its cursors. The subqueries begin behind
 * the cursor, in an index.
 */
const BEHIND = `select w.id, coalesce(c.accepted, 0)::text as accepted, coalesce(c.events, 0)::text as events
from workspaces w left join analytics_cursors c on c.workspace_id = w.id
where w.erase_at is null and (
  (select position from emails e where e.workspace_id = w.id and e.position > coalesce(c.accepted, 0)
   order by position limit 1) is not null
  or (select position from email_turns t where t.workspace_id = w.id and t.livemode and t.position > coalesce(c.events, 0)
   order by position limit 1) is not null)`;

const BEGIN = `insert into analytics_cursors (workspace_id, accepted, events)
select id, 0, 0 from workspaces where id = $1 and erase_at is null on conflict do nothing`;

const ADDED = COUNTS.map((name) => `${name} = a.${name} + excluded.${name}`).join(', ');

/**
 * Adds up the rows behind a cursor, to the end of a transaction, and moves the cursor there, in one
 * statement, which adds to the quarters and to their hours. Nothing is added beyond the horizon, before which
 * every transaction has ended. The cursor always names an existing row, as positions beyond the last one may
 * be given out again after a crash. Of two instances with the same cursor one finds it moved, and adds
 * nothing.
 */
const FOLD = `with horizon as materialized (${HORIZON}), inserts as materialized (
  select e.* from horizon h cross join lateral (
    select position, at, recipients, domain_id, campaign_id, template_id, tags from emails
    where workspace_id = $1 and position > $2::bigint and position < h.at
    order by position fetch first ${BATCH} rows with ties
  ) e
), turns as materialized (
  select e.* from horizon h cross join lateral (
    select position, email_id from email_turns
    where workspace_id = $1 and livemode and position > $3::bigint and position < h.at
    order by position fetch first ${BATCH} rows with ties
  ) e
), moved as (
  update analytics_cursors c
  set accepted = coalesce((select max(position) from inserts), c.accepted), events = coalesce((select max(position) from turns), c.events)
  where c.workspace_id = $1 and c.accepted = $2::bigint and c.events = $3::bigint
  returning c.accepted, c.events
), ${partsCtes({ isNew: 'position > $3::bigint and position <= (select max(t.position) from turns t)', apart: DIMENSIONS })}, ${FRESH_TAGS}, known as (
  insert into analytics_tags (workspace_id, tag) select $1, f.tag from moved cross join fresh f on conflict do nothing
), summed as materialized (
  select s.scope, p.quarter, ${SUMS} from moved cross join parts p cross join lateral ${SCOPES} group by s.scope, p.quarter
), added as (
  insert into analytics as a (workspace_id, scope, quarter, ${COUNTS.join(', ')})
  select $1, scope, quarter, ${COUNTS.join(', ')} from summed order by scope, quarter
  on conflict (workspace_id, scope, quarter) do update set ${ADDED}
), added_to_hours as (
  insert into analytics_hours as a (workspace_id, scope, hour, ${COUNTS.join(', ')})
  select $1, scope, ${hourOf('quarter')}, ${COUNTS.map((name) => `sum(${name})`).join(', ')} from summed group by 2, 3 order by 2, 3
  on conflict (workspace_id, scope, hour) do update set ${ADDED}
)
select accepted::text as accepted, events::text as events,
  greatest((select count(*) from inserts), (select count(*) from turns))::integer as rows
from moved`;

/** Every workspace with its cursors: where tables are distributed, each is then queried on its node. */
const PLACES = `select w.id, coalesce(c.accepted, 0)::text as accepted, coalesce(c.events, 0)::text as events
from workspaces w left join analytics_cursors c on c.workspace_id = w.id where w.erase_at is null order by w.id`;
const IS_BEHIND = `select (select position from emails where workspace_id = $1 and position > $2::bigint order by position limit 1) is not null
  or (select position from email_turns where workspace_id = $1 and livemode and position > $3::bigint order by position limit 1) is not null
  as "isBehind"`;

interface Place {
  readonly accepted: string;
  readonly events: string;
}

/**
 * Adds up the events of live mail. It follows the event log and costs an email nothing but the position of
 * its acceptance. Queries count the rows that it has not reached yet (queries.ts), so that the figures are
 * exact at every moment.
 */
export const analyticsRollUp = ({
  database,
  isDistributed = false,
}: {
  readonly database: Database;
  readonly isDistributed?: boolean;
}): Duty => ({
  name: 'analyticsRollUp',
  pattern: '*/15 * * * * *',
  // Not among the questions for all duties: this one costs in proportion to workspaces and partitions, and
  // they would wait for it.
  run: afterWork(database, async (stop) => {
    const text = isDistributed ? PLACES : `${BEHIND} order by w.id`;
    const places = await database.query<Place & { id: string }>(text, [], { isRoutine: true });
    for (const { id, ...place } of places) {
      if (stop?.aborted) break;
      if (isDistributed && !(await isBehind(database, id, place))) continue;
      await database.query(BEGIN, [id]);
      let at: Place | undefined = place;
      while (at && !stop?.aborted) at = await fold(database, id, at);
    }
    return places.length === 0;
  }),
});

async function isBehind(database: Database, workspaceId: string, at: Place): Promise<boolean> {
  const [row] = await database.query<{ isBehind: boolean }>(IS_BEHIND, [workspaceId, at.accepted, at.events]);
  return row?.isBehind === true;
}

/**
 * Answers where the next batch begins; undefined when there is none for now, or another instance is at it.
 */
async function fold(database: Database, workspaceId: string, at: Place): Promise<Place | undefined> {
  const [done] = await database.query<Place & { rows: number }>(FOLD, [workspaceId, at.accepted, at.events]);
  return done && done.rows >= BATCH ? done : undefined;
}
