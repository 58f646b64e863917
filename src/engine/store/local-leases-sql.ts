import type { Kind } from '../machine/kind.ts';
import type { HistoryTables } from '../machine/storage.ts';

// The statements of local-leases.ts, and how others find what is kept.

/** New actors left to the clock at once. */
export const LEFT_AT_ONCE = 200;

/** Begins a term: $1 its id, $2 the kind, $3 its mark. */
export const BEGIN = `insert into instances (id, kind, open, heartbeat_at, low_water) values ($1, $2, true, clock_timestamp(), $3)`;
/** Renews the term, and moves its mark; returns no row where another instance has closed it. */
export const RENEW = `update instances set heartbeat_at = clock_timestamp(), low_water = $2 where id = $1 and open returning id`;
/** Ends a term that keeps nothing any more. */
export const END = `delete from instances where id = $1 and open`;
const IS_GONE = `not (heartbeat_at between clock_timestamp() - $2 * interval '1 millisecond'
  and clock_timestamp() + $2 * interval '1 millisecond')`;
/**
 * The terms of a kind, but for this instance's ($3). Those that were closed, or have had no heartbeat for
 * this time, are gone.
 */
export const FIND_TERMS = `select id, low_water, open, not open or ${IS_GONE} as gone from instances
where kind = $1 and id is distinct from $3::integer order by id`;
/** Closes such a term; it waits for the statements that rely on it. */
export const CLOSE = `update instances set open = false where id = $1 and open and ${IS_GONE} returning id`;
/** Forgets a closed term once all that it kept is left to the clock. */
export const FORGET = `delete from instances where id = $1 and not open`;

/** SQL: the actor of the inserted row `alias` has had no second write; none lies below `lowest`. */
export const isUnchanged = ({ revisions }: HistoryTables, alias: string, lowest: string): string =>
  `not exists (select from ${revisions} t where t.email_id = ${alias}.id and t.workspace_id = ${alias}.workspace_id and t.email_id >= ${lowest})`;

/**
 * SQL: an actor whose row is rewritten (`Kind.keepsChildren`) is kept by an instance, and has had no turn; it
 * is unknown to the clock.
 */
export const hasNoTurn = (alias: string): string =>
  `${alias}.kept_by is not null and ${alias}.revision = 1 and ${alias}.wake_at is null`;

/**
 * SQL: the lowest id of a kind that any instance may keep, null where none keeps any. Each kind has separate
 * marks: ids of another kind sort before or behind all of its ids.
 */
export const lowestMarkSql = ({ name }: Pick<Kind, 'name'>): string =>
  `(select min(k.low_water) from instances k where k.kind = '${name}')`;

/**
 * SQL: an actor `alias` of such a kind is kept by an instance. Only those are looked at that any instance may
 * keep.
 */
export const isKeptSql = (kind: Pick<Kind, 'name'>, alias: string): string =>
  `${alias}.id >= ${lowestMarkSql(kind)} and ${hasNoTurn(alias)}`;

/** Actors looked at for those that instances keep. */
const KEPT_EXAMINED = 5_000;

/**
 * The newest actors (`f`) of a condition on their inserted rows that instances hold, unknown to the clock.
 */
export function newestKeptSql(
  kind: Pick<Kind, 'name'>,
  tables: HistoryTables,
  condition: string,
  most: number,
): string {
  const lowest = lowestMarkSql(kind);
  return `select f.id from (
    select f.id, f.workspace_id, f.kept_by from ${tables.inserts} f where f.id >= ${lowest} and ${condition}
    order by f.id desc limit ${KEPT_EXAMINED}
  ) f where f.kept_by is not null and ${isUnchanged(tables, 'f', lowest)} order by f.id desc limit ${most}`;
}
