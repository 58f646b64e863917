import type { Database } from '../../db/database.ts';
import { A_CLUSTERS_LIFE, isOutOfLine, readLogState } from './positions.ts';

/**
 * Moves the positions that are given out from now on behind all that were ever given out, where the database has been
 * restored. Answers whether it did. @throws Unavailable when writers are in the way for several seconds.
 */
export async function alignPositions(database: Database): Promise<boolean> {
  const state = await readLogState(database);
  if (!isOutOfLine(state)) {
    if (state.alignedWith === null && state.cluster !== null)
      await database.query('update event_log set cluster = $1 where cluster is null', [state.cluster]);
    return false;
  }
  // Whoever has written with the base of before has ended when the lock is had, and nobody can write until it is given back:
  // else such a position would appear behind readers who have seen the new base. The table alone: partitions may be vacuumed.
  await database.script(
    `set local lock_timeout = '5s';
     lock table only email_events in share mode;
     update event_log set base = greatest(base, ${state.last}) + ${A_CLUSTERS_LIFE}, cluster = ${quoted(state.cluster)}
       where base = ${state.base}`,
  );
  return true;
}

/** The cluster's identity as an SQL literal. It consists of digits, letters and a slash. */
const quoted = (cluster: string | null): string =>
  cluster !== null && /^[\w/]+$/.test(cluster) ? `'${cluster}'` : 'null';
