import type { Database } from './database.ts';

/** How far the leader has come: everything that was answered before lies at or before it. */
export interface WalPosition {
  /** The identifier of the cluster: a copy that follows has the same one. */
  readonly system: string;
  /** The timeline that the leader writes; each promotion begins a higher one. */
  readonly timeline: number;
  /** Such as `16/B374D848`. */
  readonly lsn: string;
}

/**
 * What a commit has returned for is flushed, unless `synchronous_commit` is off. On a server that is in recovery it is an error, which
 * says that this is no leader.
 */
const LEADER = `select c.system_identifier::text as system, substr(pg_walfile_name(w.lsn), 1, 8) as timeline, w.lsn::text as lsn
from pg_control_system() c, (select case when current_setting('synchronous_commit') = 'off'
  then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn) w`;

/** Asks the leader how far it has come. @throws Unavailable */
export async function readPosition(leader: Pick<Database, 'query'>): Promise<WalPosition> {
  const [row] = await leader.query<{ system: string; timeline: string; lsn: string }>(LEADER);
  if (!row) throw new Error('The leader told no position.');
  return { ...row, timeline: Number.parseInt(row.timeline, 16) };
}

/**
 * How far a server has replayed, and of which history. A replica that stayed on the timeline of a leader that was replaced may have come
 * further than the new one, with other content. Whoever may not read the state of the receiver goes by the last restartpoint.
 */
const REPLICA = `select c.system_identifier::text as system, pg_is_in_recovery() as follows,
  coalesce((select received_tli from pg_stat_wal_receiver), greatest(k.timeline_id, r.min_recovery_end_timeline)) as timeline,
  coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) as reached
from pg_control_system() c, pg_control_checkpoint() k, pg_control_recovery() r`;

/** What stands against reading from a server now. */
export type Unfit = 'behind' | 'no replica' | 'another cluster' | 'another timeline';

interface Replayed {
  readonly system: string;
  readonly follows: boolean;
  readonly timeline: number;
  readonly reached: boolean;
}

/** Asks a server whether everything up to that position can be read from it; null when it can. */
export async function unfitFor(
  { system, timeline, lsn }: WalPosition,
  ask: (text: string, parameters: string[]) => PromiseLike<readonly object[]>,
): Promise<Unfit | null> {
  const [row] = (await ask(REPLICA, [lsn])) as readonly Replayed[];
  if (!row) throw new Error('The replica told no position.');
  if (row.system !== system) return 'another cluster';
  if (!row.follows) return 'no replica';
  if (row.timeline !== timeline) return 'another timeline';
  return row.reached ? null : 'behind';
}
