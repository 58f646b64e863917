import type { Duty } from '../../engine/duties/duty.ts';
import type { Database, Statements } from '../../platform/db/database.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import {
  A_CLUSTERS_LIFE,
  isElsewhere,
  isOutOfLine,
  type Numbering,
  readLogState,
  readNumbering,
} from './positions.ts';

/**
 * Moves the positions that are given out from now on behind all that were ever given out, where the database
 * has been restored. Answers whether it did. @throws UnavailableError when writers are in the way for several
 * seconds.
 */
export async function alignPositions(database: Database, isDistributed = false): Promise<boolean> {
  // An embedded database is restored as a whole, with its transaction count, and the rows of a backup got
  // their positions when they were loaded. Looking for the last event would open every partition, which is a
  // tenth of its start.
  const state =
    database.kind === 'embedded'
      ? { ...(await readNumbering(database)), last: 0n }
      : await readLogState(database, isDistributed);
  if (!isOutOfLine(state)) {
    if (state.alignedWith === null && state.cluster !== null)
      await database.query('update event_log set cluster = $1 where cluster is null', [state.cluster]);
    return false;
  }
  await raiseBase(database, state, state.last);
  return true;
}

/**
 * Places all that is written from now on behind every position, and every cursor, of the log that these rows
 * were taken from. Nothing else can tell that they were: every embedded database begins as a copy of one, and
 * so has the identity of that one. The caller is in a transaction, which a server that does not tell its
 * identity would else have ended.
 */
export async function continueLog(database: Statements): Promise<void> {
  await database.script('savepoint reading');
  const state = await readLogState(database);
  await database.script('rollback to savepoint reading');
  await raiseBase(database, state, state.last);
}

/**
 * Transactions that wrote with the previous base have ended when the lock is held, and none can write until
 * it is released: else such a position would appear behind readers who have seen the new base. The lock
 * covers the table alone: partitions may be vacuumed. Of several instances that see the same base one raises
 * it.
 */
const raiseBase = (database: Statements, { base, cluster }: Numbering, last: bigint): Promise<void> =>
  database.script(
    `set local lock_timeout = '5s';
     lock table only email_turns, only emails in share mode;
     update event_log set base = greatest(base, ${last}) + ${A_CLUSTERS_LIFE}, cluster = ${quoted(cluster)}
       where base = ${base}`,
  );

const TAKEN_BACK =
  'The database was restored, or another server took over, while this instance ran: new events get positions after all earlier ones.';

/**
 * Numbers that a server which crashes may give out again though nothing was taken back: those of transactions
 * that had written nothing durable yet. Each connection has one at a time.
 */
const IN_FLIGHT = 1_000n;

/**
 * Keeps new events behind every cursor while the service runs. Another server that takes over asynchronously
 * may lack the last transactions, and so may a machine that is set back to a snapshot: their numbers are
 * given out again, although clients hold cursors beyond them. The first shows in the timeline, the second in
 * numbers that are lower than those this process has seen. Events of the minute before it is noticed may lie
 * before such a cursor; a client with that cursor then gets a 422.
 */
export function logAligner({ database, logger }: { database: Database; logger: Pick<Logger, 'warn'> }): Duty {
  let highest = 0n;
  return {
    name: 'logAligner',
    pattern: '20 * * * * *',
    async run() {
      // It is restored as a whole, and not beside a service.
      if (database.kind === 'embedded') return;
      const seen = await readNumbering(database);
      const isBack = seen.next + IN_FLIGHT < highest;
      if (!isBack && !isElsewhere(seen)) {
        highest = seen.next;
        return;
      }
      await raiseBase(database, seen, highest);
      logger.warn(TAKEN_BACK);
      highest = (await readNumbering(database)).next;
    },
  };
}

/** The cluster's identity as an SQL literal. It consists of digits, letters and a slash. */
const quoted = (cluster: string | null): string =>
  cluster !== null && /^[\w/]+$/.test(cluster) ? `'${cluster}'` : 'null';
