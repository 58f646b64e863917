import { NUMBERED_TIME } from '../../../platform/db/numbered-time.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The way in which a statement writes the moments at which actors are due. */
export interface WakeWriting {
  /** A CTE, with a comma before it; empty where nothing is bounded. */
  readonly cte: string;
  /** The moment to write, of one that was decided on. */
  at(decided: string): string;
  /** The earliest moment that the statement writes; null where it writes any. */
  readonly earliest: string;
}

/**
 * No statement writes a `wake_at` before the moment at which its transaction had its number. A search for due
 * actors may then forget the time before a moment, once all transactions with a lower number than one that
 * was given out after it have ended. The number comes first, so that this holds however long a statement
 * waits.
 */
const BOUNDED: WakeWriting = {
  cte: `, write_began as materialized (
  select ${NUMBERED_TIME} as at
)`,
  at: (decided) =>
    `case when ${decided} < (select at from write_began) then (select at from write_began) else ${decided} end`,
  earliest: '(select at from write_began)',
};

const UNBOUNDED: WakeWriting = { cte: '', at: (decided) => decided, earliest: 'null::timestamptz' };

/**
 * Bounded where the clock is the database's: of any other clock the database cannot know which moments are
 * past.
 */
export const wakeWriting = ({ agreement }: Clock): WakeWriting => (agreement ? BOUNDED : UNBOUNDED);
