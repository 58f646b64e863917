import type { Database } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The number of emails of campaigns that may be accepted now, and their instance. */
export interface BulkRoom {
  readonly count: number;
  /** Any instance with room may claim them: this one does not execute them unless it claims them again. */
  readonly isElsewhere: boolean;
}

/**
 * Emails of campaigns that may wait in the database for each other instance that delivers: about a second of
 * a fast one.
 */
export const MOST_LEFT = 1_024;
/**
 * A chunk of a campaign has no more. Fewer are not given out: one statement writes a hundred in little more
 * time than one.
 */
const LEAST = 128;
/** An answer holds for so long: who waits for room asks again and again. */
const KNOWN_MS = 50;
/**
 * An answer that took long holds for so many times as long: behind a transaction that is held open, the index
 * keeps an entry of every email that ever waited.
 */
const TIMES_AS_LONG = 20;

/**
 * Counts the due ones. It asks every node, as the sweeps do, and selects a column, without which a node
 * refuses it.
 */
export const WAITING_IN_BULK = `select count(*)::integer as waiting from (
  select true as one from email_due where is_bulk and wake_at <= $1::timestamptz limit $2::integer
) w`;

/** `isHereOnly`: the room of this instance alone, for what others may not have. @throws UnavailableError */
export type RoomForBulk = (isHereOnly: boolean) => Promise<BulkRoom>;

interface Parts {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The room of this instance. */
  readonly own: () => number;
  /** The other instances that deliver. */
  readonly others: () => number;
}

/**
 * The room for emails of campaigns: that of this instance first, since what it writes it need not read again,
 * and then that of the others. Those claim what waits in the database as they have room for it, so that only
 * as much is given out as leaves in some seconds, of all campaigns together: the last campaign must not wait
 * for hours behind the others.
 */
export function bulkRoomOf({ database, clock, own, others }: Parts): RoomForBulk {
  let known = { until: Number.NEGATIVE_INFINITY, waiting: 0 };

  async function read(most: number): Promise<typeof known> {
    const asked = clock.monotonic();
    const now = new Date(clock.now()).toISOString();
    const [row] = await database.query<{ waiting: number }>(WAITING_IN_BULK, [now, most]);
    const answered = clock.monotonic();
    const until = answered + Math.max(KNOWN_MS, TIMES_AS_LONG * (answered - asked));
    return { until, waiting: row?.waiting ?? 0 };
  }

  return async (isHereOnly) => {
    const here = own();
    if (here > 0 || isHereOnly) return { count: here, isElsewhere: false };
    const most = others() * MOST_LEFT;
    if (most === 0) return { count: 0, isElsewhere: false };
    if (clock.monotonic() >= known.until) known = await read(most);
    const count = most - known.waiting;
    if (count < LEAST) return { count: 0, isElsewhere: true };
    // Each caller accepts at most one chunk, and the answer counts it until the next read.
    known.waiting += LEAST;
    return { count, isElsewhere: true };
  };
}
