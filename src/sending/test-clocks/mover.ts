import { randomUUID } from 'node:crypto';
import type { Duty } from '../../engine/duties/duty.ts';
import type { ClockedActors } from '../../engine/runtime/clocked.ts';
import type { Database } from '../../platform/db/database.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { atWork, ClockLease, type ClockName, clocksAtWork } from './lease.ts';
import { pass } from './passage.ts';
import { findClock } from './store.ts';

/** The services that moving test clocks calls. */
export interface MoverDeps {
  readonly database: Database;
  readonly logger: Logger;
  /** The modules with actors on test clocks, in the order in which their work is done at one moment. */
  readonly clocked: () => readonly ClockedActors[];
}

/**
 * The time between two renewals of a lease during slow work: the receiver of a webhook may take ten seconds.
 */
const BEAT_MS = 1_000;

/**
 * Moves test clocks: it does the due work at each moment up to the target, moment by moment. One process at a
 * time moves a clock; where it dies, any other goes on from there, since all results are in the actors
 * themselves.
 */
export class ClockMover {
  readonly #holder = randomUUID();
  /** The clocks that are moved here, and whether they are to be looked at once more afterwards. */
  readonly #moving = new Map<string, { readonly done: Promise<void>; isWanted: boolean }>();
  readonly #stopping = new AbortController();
  /** Aborts when nothing is moved here any more. */
  readonly stopped = this.#stopping.signal;

  constructor(private readonly deps: MoverDeps) {}

  /**
   * Moves a clock to its target, unless another instance does; settles when that is over. Faults are logged:
   * the duty tries again.
   */
  move(name: ClockName): Promise<void> {
    const known = this.#moving.get(name.id);
    if (known) {
      known.isWanted = true;
      return known.done;
    }
    const entry = { done: Promise.resolve(), isWanted: true };
    this.#moving.set(name.id, entry);
    entry.done = this.#move(name, entry);
    return entry.done;
  }

  /** Resumes the clocks that another process has left. */
  readonly duty: Duty = {
    name: 'testClockMover',
    pattern: '*/5 * * * * *',
    asks: (now) => `exists (${atWork(now)})`,
    run: async () => {
      for (const name of await clocksAtWork(this.deps.database)) void this.move(name);
    },
  };

  /** Ends the work between two moments; the next instance that runs does the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#moving.values().map(({ done }) => done));
  }

  /**
   * Ends the actors of a clock that was deleted: the first of the list may have made some of the rest.
   * @throws UnavailableError
   */
  async end({ workspace_id: workspaceId, id }: ClockName, at?: number): Promise<void> {
    for (const clocked of this.deps.clocked()) await clocked.close({ workspaceId, id }, at);
  }

  /**
   * Ends actors that were accepted for a clock while it was deleted; does nothing where another instance
   * moves it.
   */
  async #close(name: ClockName): Promise<void> {
    if (!(await findClock(this.deps.database, name.workspace_id, name.id))) await this.end(name);
  }

  async #move(name: ClockName, entry: { isWanted: boolean }): Promise<void> {
    const { database, logger, clocked } = this.deps;
    const lease = new ClockLease(database, name, this.#holder);
    const clock = { id: name.id, workspaceId: name.workspace_id };
    const beating = setInterval(() => void lease.beat().catch(() => {}), BEAT_MS);
    try {
      while (entry.isWanted && !this.stopped.aborted) {
        entry.isWanted = false;
        const row = await lease.take();
        if (!row) {
          await this.#close(name);
          continue;
        }
        const hasCome = await pass(clocked(), clock, {
          from: row.now_at,
          to: row.target_at,
          reached: async (at) => !this.stopped.aborted && lease.reach(at),
        });
        if (!hasCome) await lease.release();
        // The target was moved further meanwhile.
        else if (!(await lease.end(row.target_at))) entry.isWanted = true;
      }
    } catch (error) {
      // Work that did not begin before a stop waits for the next instance that runs.
      if (this.stopped.aborted && error instanceof UnavailableError)
        return await lease.release().catch(() => {});
      logger.warn({ err: error, testClock: name.id }, 'A test clock could not be advanced; it is retried.');
    } finally {
      clearInterval(beating);
      this.#moving.delete(name.id);
    }
  }
}
