import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** A background job, named after its agent. Each has its own file. */
export interface Duty {
  readonly name: string;
  /** The times at which it runs, in UTC, as croner reads them. */
  readonly pattern: string;
  /** True when it removes data by their age. It does not run while the time is in doubt. */
  readonly goesByAge?: boolean;
  /** True when it writes facts that only this process knows: it runs with any roles of the process. */
  readonly isEverybodys?: boolean;
  /**
   * SQL that is true when there is work, with `now` for the time of the clock. Such a duty runs only then:
   * one statement asks for all of them.
   */
  readonly asks?: (now: string) => string;
  /** True when there is work that should not wait for the next time. */
  readonly isWanted?: () => boolean;
  /** Does the work. It ends early, between two batches, once `stop` is aborted. */
  run(stop?: AbortSignal): Promise<unknown>;
}

/**
 * The dependencies of a duty. A duty may run on several instances at once; its work is done once, or twice
 * without harm.
 */
export interface DutyDeps {
  readonly database: Database;
  readonly clock: Clock;
}
