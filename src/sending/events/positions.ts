import type { Database } from '../../platform/db/database.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/**
 * `at`: every position before it is final, since the transactions that wrote there have ended. `next`: no
 * event lies there or beyond.
 */
export const HORIZON = `select l.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint as at,
  l.base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next
from event_log l where l.one`;

/**
 * Beyond every position and every cursor of a cluster: 55 years at 10,000 transactions a second. A cursor may
 * stand well after the last event that a dump has kept, so the last event is no measure. A bigint has room
 * for 524,287 restores.
 */
export const A_CLUSTERS_LIFE = 2n ** 44n;

/** The numbering of positions. */
export interface Numbering {
  /** The cluster that the positions were last aligned with; null before the first time. */
  readonly alignedWith: string | null;
  /** The cluster and its timeline; null when the server does not tell. */
  readonly cluster: string | null;
  /** The number that positions count from. */
  readonly base: bigint;
  /** The positions that are given out next lie from here on. */
  readonly next: bigint;
}

/** The state of the log's positions. */
export interface LogState extends Numbering {
  /** The last position in the log; 0 when it is empty. */
  readonly last: bigint;
  /** The email of the last event. */
  readonly lastEmail: string | null;
}

/**
 * A timeline begins where a cluster was restored to an earlier moment or another server took over: what was
 * written after that moment may be gone, and its transaction ids are given out again.
 */
const CLUSTER = `select system_identifier::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as cluster
from pg_control_system()`;
const ALIGNED = `select cluster, base::text as base, (base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint)::text as next
from event_log where one`;
/**
 * The last position: it steps from owner to owner along the index of the log, and reads the last event of
 * each; then the same along the acceptances of live mail, which have positions too.
 */
const LAST = `with recursive owners as (
  (select workspace_id, livemode from email_turns where position is not null order by workspace_id, livemode limit 1)
  union all
  select n.workspace_id, n.livemode from owners o cross join lateral (
    select workspace_id, livemode from email_turns
    where position is not null and (workspace_id, livemode) > (o.workspace_id, o.livemode) order by workspace_id, livemode limit 1
  ) n
), senders as (
  (select workspace_id from emails where position is not null order by workspace_id limit 1)
  union all
  select n.workspace_id from senders o cross join lateral (
    select workspace_id from emails where position is not null and workspace_id > o.workspace_id order by workspace_id limit 1
  ) n
)
select position::text as last, email_id from (
  select e.* from owners o cross join lateral (
    select position, email_id from email_turns
    where position is not null and workspace_id = o.workspace_id and livemode = o.livemode order by position desc limit 1
  ) e
  union all
  select e.* from senders o cross join lateral (
    select position, id from emails
    where position is not null and workspace_id = o.workspace_id order by position desc limit 1
  ) e
) written order by position desc limit 1`;

/**
 * The same where the tables lie on several nodes: no walk along an index goes over them, so each node looks
 * through its part of the log.
 */
const LAST_OF_NODES = `select position::text as last, email_id from (
  (select position, email_id from email_turns where position is not null order by position desc limit 1)
  union all
  (select position, id from emails where position is not null order by position desc limit 1)
) written order by position desc limit 1`;

/** Reads the present numbering. */
export async function readNumbering(database: Pick<Database, 'query'>): Promise<Numbering> {
  const [aligned] = await database.query<{ cluster: string | null; base: string; next: string }>(ALIGNED);
  return {
    alignedWith: aligned?.cluster ?? null,
    cluster: await readCluster(database),
    base: BigInt(aligned?.base ?? 0),
    next: BigInt(aligned?.next ?? 0),
  };
}

/** Reads the state of the positions. */
export async function readLogState(
  database: Pick<Database, 'query'>,
  isDistributed = false,
): Promise<LogState> {
  // The last position first: an event that another instance writes between the two would seem to lie beyond
  // the next one.
  const [last] = await database.query<{ last: string; email_id: string }>(
    isDistributed ? LAST_OF_NODES : LAST,
  );
  return {
    ...(await readNumbering(database)),
    last: BigInt(last?.last ?? 0),
    lastEmail: last?.email_id ?? null,
  };
}

/**
 * True when another cluster, or another timeline, counts the transactions than when the positions were
 * aligned.
 */
export const isElsewhere = ({ alignedWith, cluster }: Numbering): boolean =>
  alignedWith !== null && cluster !== null && alignedWith !== cluster;

/**
 * True when positions that are given out now would lie among those that the log, or a client's cursor, has
 * already.
 */
export const isOutOfLine = (state: Omit<LogState, 'lastEmail'>): boolean =>
  state.last >= state.next || isElsewhere(state);

async function readCluster(database: Pick<Database, 'query'>): Promise<string | null> {
  try {
    const [row] = await database.query<{ cluster: string }>(CLUSTER);
    return row?.cluster ?? null;
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    // Some hosts do not allow the question; then only the last position can tell.
    return null;
  }
}
