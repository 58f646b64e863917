import type { Database } from '../db/database.ts';
import type { Clock } from '../time/clock.ts';

/** A background job: named as the one who does it, one file each. */
export interface Duty {
  readonly name: string;
  /** When, as croner reads it (UTC). */
  readonly pattern: string;
  /** It removes what is old: not while nobody can say how late it is. */
  readonly goesByAge?: boolean;
  /** Ends early once `stop` is aborted: between two batches, where there may be many. */
  run(stop?: AbortSignal): Promise<unknown>;
}

/** What a duty works with. It may run on any number of instances at once, and does its work once, or twice without harm. */
export interface DutyDeps {
  readonly database: Database;
  readonly clock: Clock;
}
