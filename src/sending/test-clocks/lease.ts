import type { Database } from '../../platform/db/database.ts';
import { isoOf } from '../../platform/time/clock.ts';
import { type ClockRow, COLUMNS } from './store.ts';

/** An instance that dies holds a clock no longer than this. */
const LEASE = `clock_timestamp() + interval '5 seconds'`;
/**
 * The instance that moves a clock has renewed its lease at most so long before each thing that it does. A
 * moment may take two milliseconds, and a write for each would double it.
 */
const RENEWED_MS = 500;
/** An email that was about to be written has been, or never will be. */
const LOOKED_AFTER = `interval '1 minute'`;

const TAKE = `update test_clocks set leased_by = $3, leased_until = ${LEASE}
where workspace_id = $1 and id = $2 and (leased_until is null or leased_until < clock_timestamp() or leased_by = $3)
returning ${COLUMNS}`;

const RENEW = `update test_clocks set now_at = $4::timestamptz, leased_until = ${LEASE}
where workspace_id = $1 and id = $2 and leased_by = $3 returning id`;

const BEAT = `update test_clocks set leased_until = ${LEASE} where workspace_id = $1 and id = $2 and leased_by = $3`;

const END = `update test_clocks set status = 'ready', now_at = target_at, leased_by = null, leased_until = null,
  entered_at = case when entered_at > clock_timestamp() - ${LOOKED_AFTER} then entered_at end
where workspace_id = $1 and id = $2 and leased_by = $3 and target_at = $4::timestamptz returning id`;

const RELEASE = `update test_clocks set leased_by = null, leased_until = null where workspace_id = $1 and id = $2 and leased_by = $3`;

/** The clocks that no instance moves at that time although they may have due work. */
export const atWork = (now: string): string => `select workspace_id, id from test_clocks
where (status = 'advancing' or entered_at is not null) and (leased_until is null or leased_until < ${now}) order by id`;

export type ClockName = Pick<ClockRow, 'workspace_id' | 'id'>;

/** The right to move a clock, which one process has at a time. */
export class ClockLease {
  /** Monotonic moment of the latest renewal. */
  #renewedAt = 0;

  constructor(
    private readonly database: Database,
    private readonly clock: ClockName,
    private readonly holder: string,
  ) {}

  /**
   * Takes the lease and answers the clock; null where another instance has it.
   * @throws UnavailableError
   */
  async take(): Promise<ClockRow | null> {
    this.#renewedAt = performance.now();
    const [row] = await this.database.query<ClockRow>(TAKE, this.#names);
    return row ?? null;
  }

  /**
   * Stores now and then the time that the clock shows; false where another instance has taken it meanwhile,
   * or it was deleted.
   * @throws UnavailableError
   */
  async reach(at: number): Promise<boolean> {
    const now = performance.now();
    if (now - this.#renewedAt < RENEWED_MS) return true;
    this.#renewedAt = now;
    return (await this.database.query(RENEW, [...this.#names, isoOf(at)])).length > 0;
  }

  /**
   * Renews the lease at the moment that was stored last.
   * @throws UnavailableError
   */
  async beat(): Promise<void> {
    await this.database.query(BEAT, this.#names);
  }

  /**
   * Ends the advance at its target; false where the target lies further by now.
   * @throws UnavailableError
   */
  async end(target: number): Promise<boolean> {
    return (await this.database.query(END, [...this.#names, isoOf(target)])).length > 0;
  }

  /** Leaves the rest to others. @throws UnavailableError */
  async release(): Promise<void> {
    await this.database.query(RELEASE, this.#names);
  }

  get #names(): [string, string, string] {
    return [this.clock.workspace_id, this.clock.id, this.holder];
  }
}

/**
 * Finds those clocks.
 * @throws UnavailableError
 */
export const clocksAtWork = (database: Database): Promise<readonly ClockName[]> =>
  database.query<ClockName>(atWork('clock_timestamp()'));
