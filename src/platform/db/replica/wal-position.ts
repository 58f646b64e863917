import type { Database } from '../database.ts';

/** The position of the leader: every write that was answered before lies at or before it. */
export interface WalPosition {
  /** The identifier of the cluster: a copy that follows has the same one. */
  readonly system: string;
  /** The timeline that the leader writes; each promotion begins a higher one. */
  readonly timeline: number;
  /** Such as `16/B374D848`. */
  readonly lsn: string;
}

/**
 * A commit that has returned is flushed, unless `synchronous_commit` is off. On a server that is in recovery
 * the query is an error, which says that this is no leader. All that can be worked out here is: as an
 * expression over a subquery it took the leader half as long again.
 */
const LEADER = `select pg_walfile_name(pg_current_wal_flush_lsn()) as file, pg_current_wal_flush_lsn()::text as flushed,
  pg_current_wal_insert_lsn()::text as written, current_setting('synchronous_commit') as commits`;

interface LeaderPositionRow {
  /** The name of a segment begins with its timeline, in hexadecimal. */
  readonly file: string;
  readonly flushed: string;
  readonly written: string;
  readonly commits: string;
}

/** The server reads it from a file, which costs more than all the rest. */
const SYSTEM = 'select system_identifier::text as system from pg_control_system()';
/** The time for which it is believed: it changes only where the URL now leads to another cluster. */
const SYSTEM_FOR_MS = 1_000;

/** Asks the leader how far it has come. */
export class LeaderPosition {
  #system = '';
  #systemUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly leader: Pick<Database, 'query'>,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** @throws UnavailableError */
  async read(): Promise<WalPosition> {
    const asked = this.monotonic();
    const isKnown = asked < this.#systemUntil;
    const [[row], [cluster]] = await Promise.all([
      this.leader.query<LeaderPositionRow>(LEADER),
      isKnown ? [] : this.leader.query<{ system: string }>(SYSTEM),
    ]);
    if (cluster) {
      this.#system = cluster.system;
      this.#systemUntil = asked + SYSTEM_FOR_MS;
    }
    if (!row) throw new Error('The leader reported no position.');
    return {
      system: this.#system,
      lsn: row.commits === 'off' ? row.written : row.flushed,
      timeline: Number.parseInt(row.file.slice(0, 8), 16),
    };
  }
}

/**
 * The position that a server has replayed, and its history. A replica that stayed on the timeline of a leader
 * that was replaced may have come further than the new one, with other content. A role that may not read the
 * state of the receiver goes by the last restartpoint.
 */
const REPLICA = `select c.system_identifier::text as system, pg_is_in_recovery() as follows,
  case when not pg_is_in_recovery()
    then ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::integer
    else coalesce((select received_tli from pg_stat_wal_receiver), (select greatest(k.timeline_id, r.min_recovery_end_timeline)
    from pg_control_checkpoint() k, pg_control_recovery() r)) end as timeline,
  coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) as reached
from pg_control_system() c`;

/** The reasons against reading from a server now. */
export type UnfitReason = 'behind' | 'primary' | 'no replica' | 'another cluster' | 'another timeline';

interface ReplicaPositionRow {
  readonly system: string;
  readonly follows: boolean;
  readonly timeline: number;
  readonly reached: boolean;
}

/** Asks a server whether everything up to that position can be read from it; null when it can. */
export async function unfitFor(
  { system, timeline, lsn }: WalPosition,
  ask: (text: string, parameters: string[]) => PromiseLike<readonly object[]>,
): Promise<UnfitReason | null> {
  const [row] = (await ask(REPLICA, [lsn])) as readonly ReplicaPositionRow[];
  if (!row) throw new Error('The replica reported no position.');
  if (row.system !== system) return 'another cluster';
  // A promoted server writes another timeline than the present leader.
  if (!row.follows) return row.timeline === timeline ? 'primary' : 'no replica';
  if (row.timeline !== timeline) return 'another timeline';
  return row.reached ? null : 'behind';
}
