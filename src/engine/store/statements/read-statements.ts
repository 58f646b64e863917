import type { Parameter } from '../../../platform/db/database.ts';
import type { Shards } from '../../../platform/db/distribution/shards.ts';
import { ON_ONE_SERVER, onNodes } from '../../../platform/db/distribution/terms.ts';
import type { Draft } from '../../machine/draft.ts';
import type { Kind } from '../../machine/kind.ts';
import { readColumns } from '../actor-columns.ts';
import type { WakeWriting } from './wake-at.ts';

/** The rows of the ids in $1; where tables are distributed $2 are their workspaces. */
export function loadStatement(kind: Kind, isDistributed = false): string {
  const shard = isDistributed ? onNodes('$2::text[]') : ON_ONE_SERVER;
  return `select ${readColumns(kind)}
from unnest($1::text[]) i(id) join ${kind.table} a on a.id = i.id${shard.within(kind.table, 'a')}`;
}

/**
 * The workspaces of the ids in $1. Where tables are distributed it asks every node for those of unknown
 * workspace.
 */
export const whoseStatement = ({ life, table }: Kind): string =>
  `select id, workspace_id from ${life?.births ?? table} where id = any($1::text[])`;

export const readBackParameters = (
  shards: Shards | null,
  items: readonly { readonly draft: Pick<Draft, 'after'> }[],
): readonly Parameter[] => [
  JSON.stringify(items.map(({ draft: { after } }) => ({ id: after.id, revision: after.revision }))),
  ...(shards ? [[...new Set(items.map(({ draft: { after } }) => after.workspaceId))]] : []),
];

/**
 * The tags of the commits that made the revisions in $1, to find the outcome of a commit whose reply was
 * lost. The journal knows, however far the actor has moved on since. Where tables are distributed $2 are
 * their workspaces.
 */
export function readBackStatement(kind: Kind, isDistributed = false): string {
  const shard = isDistributed ? onNodes('$2::text[]') : ON_ONE_SERVER;
  return `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as i(id text, revision integer)
join ${kind.journal} j on j.actor_id = i.id and j.revision = i.revision${shard.within(kind.journal, 'j')}`;
}

/**
 * Claims actors whose wake_at has come ($1) and is not before $4, at most $2, by moving it to $3: another
 * instance skips them (SKIP LOCKED now, the new wake_at afterwards), and a claimer that dies loses nothing.
 * Returns each with its due moment. The CTE is a fence: without it the planner may repeat the LIMIT inside a
 * nested loop. `where` leaves out others of the kind.
 */
export function claimDueStatement(kind: Kind, wake: WakeWriting, where?: string): string {
  return `with due as materialized (
  select id, wake_at from ${kind.table} where wake_at >= $4::timestamptz and wake_at <= $1::timestamptz${where === undefined ? '' : ` and ${where}`}
  order by wake_at limit $2::integer
  for update skip locked
)${wake.cte}
update ${kind.table} a set wake_at = ${wake.at('$3::timestamptz')} from due where a.id = due.id
returning ${readColumns(kind)}, (extract(epoch from due.wake_at) * 1000)::float8 as due_at`;
}

/**
 * Finds what `claimDueStatement` would claim, and leaves it as it is: whole, or the ids alone of a kind whose
 * lives are appended. Rows that others have locked are skipped, since a commit would wait for them with all
 * of its batch: 1 µs a row, where a claim takes 28.
 */
export function findDueStatement(kind: Kind, where?: string): string {
  return `select ${kind.life ? 'a.id, a.workspace_id' : readColumns(kind)}, (extract(epoch from a.wake_at) * 1000)::float8 as due_at
from ${kind.life?.due ?? kind.table} a
where a.wake_at >= $3::timestamptz and a.wake_at <= $1::timestamptz${where === undefined ? '' : ` and ${where}`}
order by a.wake_at limit $2::integer for update skip locked`;
}

/** The actors due up to $1 and not before $3, at most $2, each with its exact moment. It asks every node. */
export function lookDueStatement(kind: Kind, where?: string): string {
  return `select id, workspace_id, wake_at::text as seen, (extract(epoch from wake_at) * 1000)::float8 as due_at
from ${kind.life?.due ?? kind.table}
where wake_at >= $3::timestamptz and wake_at <= $1::timestamptz${where === undefined ? '' : ` and ${where}`}
order by wake_at limit $2::integer`;
}

/**
 * Claims those of the ids in $1, of workspaces in $4, that are due when they were seen to be ($2), by moving that to $3: who was quicker
 * has moved it. It answers no moments: Citus takes nothing there that a setting of the session has a part in.
 */
export function claimSeenStatement(kind: Kind, wake: WakeWriting): string {
  const table = kind.life?.due ?? kind.table;
  const { within } = onNodes('$4::text[]');
  return `with seen as materialized (
  select id, wake_at from unnest($1::text[], $2::timestamptz[]) s(id, wake_at)
)${wake.cte}
update ${table} a set wake_at = ${wake.at('$3::timestamptz')} from seen s where a.id = s.id and a.wake_at = s.wake_at${within(table, 'a')}
returning ${kind.life ? 'a.id, a.workspace_id' : readColumns(kind)}`;
}

/** The earliest wake_at from $1 up to $2, as epoch milliseconds. */
export function nextWakeStatement(kind: Kind, where?: string): string {
  return `select (extract(epoch from min(wake_at)) * 1000)::float8 as at
from ${kind.life?.due ?? kind.table} where wake_at >= $1::timestamptz and wake_at <= $2::timestamptz${where === undefined ? '' : ` and ${where}`}`;
}
