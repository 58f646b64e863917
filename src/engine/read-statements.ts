import { readColumns } from './actor-columns.ts';
import type { Kind } from './kind.ts';
import type { WakeWriting } from './wake-at.ts';

/** The rows of the ids in $1. */
export function loadStatement(kind: Kind): string {
  return `select ${readColumns(kind)}
from unnest($1::text[]) i(id) join ${kind.table} a on a.id = i.id`;
}

/**
 * Whose commits made the revisions in $1: what became of one whose reply was lost. The journal knows, however far the
 * actor has moved on since.
 */
export function readBackStatement(kind: Kind): string {
  return `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as i(id text, revision integer)
join ${kind.journal} j on j.actor_id = i.id and j.revision = i.revision`;
}

/**
 * Claims actors whose wake_at has come ($1) and is not before $4, at most $2, by moving it to $3: another instance passes
 * over them (SKIP LOCKED now, the new wake_at afterwards), and a claimer that dies loses nothing. Answers each with the
 * moment at which it was due. The CTE is a fence: without it the planner may repeat the LIMIT inside a nested loop. `where` leaves out others of
 * the kind.
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

/** The earliest wake_at from $1 up to $2, as epoch milliseconds. */
export function nextWakeStatement(kind: Kind, where?: string): string {
  return `select (extract(epoch from min(wake_at)) * 1000)::float8 as at
from ${kind.life?.due ?? kind.table} where wake_at >= $1::timestamptz and wake_at <= $2::timestamptz${where === undefined ? '' : ` and ${where}`}`;
}
