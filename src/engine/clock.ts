import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { codeOf, TOOK_TOO_LONG } from '../db/sqlstate.ts';
import type { ActorRow } from './actors.ts';
import type { Clock } from './clock-source.ts';
import type { Kind } from './kind.ts';
import { claimDueStatement, nextWakeStatement } from './statements.ts';

/** Due actors claimed at once. */
const CLAIM_BATCH = 500;
/** A claimer that dies holds its claims no longer than this. */
const CLAIM_MS = 5_000;

/** What is due already but could not be taken (no room) waits so long, not in a busy loop. */
const LEAST_WAIT_MS = 20;

/**
 * Behind a transaction that somebody holds open, the index keeps an entry of every actor that was ever due: after a minute
 * of 6,000 lives a second it takes 240 ms to find that nothing is (after ten minutes lives were down to a half). Where a look
 * at everything takes longer than this, most sweeps look only at what has come due of late.
 */
const SLOW_LOOK_MS = 25;
/** Looks at everything may then take this share of the time. */
const SHARE_OF_LOOKS = 0.05;
/** How far back a short sweep looks behind the last one that left nothing: commits that were under way then, and clocks that differ. */
const OVERLAP_MS = 5_000;
/**
 * A look at everything that fails (behind some ten million dead entries it takes longer than a statement may) is not made again
 * at once. What came due before this, of a process that has not seen everything yet, waits for one that succeeds.
 */
const RECENT_MS = 3_600_000;
/** Nothing was ever due before. Not `-infinity`: postgres.js makes a Date of every moment. */
const EVER = new Date(0).toISOString();
/** What is due later is found by a later tick. */
const AHEAD_MS = 1_000;

/** What the clock does with what is due. */
export interface Wakeable {
  readonly kind: Kind;
  /** How many due actors it can take now: nothing is claimed that would only wait in memory. */
  room(): number;
  /** Resolves when the claimed actors' timers are committed. */
  wake(rows: readonly ActorRow[]): Promise<void>;
}

/** How far the sweeps of one kind have come. */
interface Sweeps {
  readonly wakeable: Wakeable;
  readonly claim: string;
  readonly next: string;
  /** Up to then (epoch ms) everything due was claimed; null before the first sweep that left nothing. */
  sweptTo: number | null;
  /** Monotonic moment from which a sweep looks at everything again. */
  wholeFrom: number;
}

/** How late the scheduler runs, for /health. */
export interface SchedulerHealth {
  readonly status: 'ok' | 'late' | 'stopped';
  readonly oldestDueSeconds: number;
}

/**
 * Wakes actors whose `wake_at` has come. croner ticks every second; a wake-up within the coming second gets an
 * alarm of its own. Everything else about time lives in the database: no long timer is held in memory.
 */
export class WakeUps {
  readonly #cron: Cron;
  readonly #sweeps: readonly Sweeps[];
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #alarmAt = Number.POSITIVE_INFINITY;
  #busy: Promise<void> = Promise.resolve();
  #sweeping = false;
  #started = false;
  #stopped = false;
  #oldestDueMs = 0;
  #sweptAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    wakeables: readonly Wakeable[],
    private readonly logger: Logger,
  ) {
    this.#sweeps = wakeables.map((wakeable) => ({
      wakeable,
      claim: claimDueStatement(wakeable.kind),
      next: nextWakeStatement(wakeable.kind),
      sweptTo: null,
      wholeFrom: 0,
    }));
    this.#cron = new Cron('* * * * * *', { paused: true }, () => this.sweep());
  }

  start(): void {
    this.#started = true;
    this.#sweptAt = this.clock.monotonic();
    this.#cron.resume();
    this.sweep();
  }

  /** Stops claiming and waits for what was claimed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cron.stop();
    clearTimeout(this.#alarm);
    await this.#busy;
  }

  /** Starts a sweep unless one runs. */
  sweep(): void {
    if (this.#sweeping || this.#stopped) return;
    this.#sweeping = true;
    this.#busy = this.#sweepAll()
      .catch((error: unknown) => this.logger.warn({ err: error }, 'The clock could not read what is due.'))
      .finally(() => {
        this.#sweeping = false;
      });
  }

  /** Takes note that an actor will be due then (epoch ms): before the next tick it gets an alarm. */
  expect(at: number): void {
    const now = this.clock.now();
    // A sweep under way may have passed it already.
    if (!this.#started || this.#stopped || at > now + AHEAD_MS || at >= this.#alarmAt) return;
    clearTimeout(this.#alarm);
    this.#alarmAt = at;
    this.#alarm = setTimeout(
      () => {
        this.#alarmAt = Number.POSITIVE_INFINITY;
        this.sweep();
      },
      Math.max(LEAST_WAIT_MS, at - now),
    );
  }

  /** Resolves when the sweep under way, if any, has ended. */
  settled(): Promise<void> {
    return this.#busy;
  }

  get health(): SchedulerHealth {
    const oldestDueSeconds = Math.round(this.#oldestDueMs / 100) / 10;
    if (this.#stopped) return { status: 'stopped', oldestDueSeconds };
    const isBlind = this.clock.monotonic() - this.#sweptAt > 5_000;
    return { status: isBlind || oldestDueSeconds > 5 ? 'late' : 'ok', oldestDueSeconds };
  }

  async #sweepAll(): Promise<void> {
    let next = Number.POSITIVE_INFINITY;
    let oldest = 0;
    const failures: unknown[] = [];
    for (const sweeps of this.#sweeps) {
      const begun = this.clock.monotonic();
      try {
        const wakeAt = await this.#sweep(sweeps);
        next = Math.min(next, wakeAt);
        oldest = Math.max(oldest, this.clock.now() - wakeAt);
      } catch (error) {
        failures.push(error);
        if (codeOf(error) === TOOK_TOO_LONG) this.#goOnShort(sweeps, begun);
      }
    }
    this.expect(next);
    // One kind's failure does not keep the others asleep.
    if (failures.length > 0) throw failures[0];
    this.#oldestDueMs = oldest;
    this.#sweptAt = this.clock.monotonic();
  }

  #goOnShort(sweeps: Sweeps, begun: number): void {
    sweeps.sweptTo ??= this.clock.now() - RECENT_MS;
    sweeps.wholeFrom = begun + (this.clock.monotonic() - begun) / SHARE_OF_LOOKS;
  }

  /** Wakes all of one kind that is due; answers when the next one will be, if that is soon. */
  async #sweep(sweeps: Sweeps): Promise<number> {
    const { room, wake } = sweeps.wakeable;
    const isWhole = sweeps.sweptTo === null || this.clock.monotonic() >= sweeps.wholeFrom;
    const behind = isWhole ? EVER : this.#overlapping(sweeps.sweptTo as number);
    for (;;) {
      const limit = Math.min(CLAIM_BATCH, room());
      if (this.#stopped || limit <= 0) break;
      const now = this.clock.now();
      const rows = await this.database.query<ActorRow>(sweeps.claim, [
        new Date(now).toISOString(),
        limit,
        new Date(now + CLAIM_MS).toISOString(),
        behind,
      ]);
      if (rows.length > 0) await wake(rows);
      if (rows.length < limit) {
        sweeps.sweptTo = now;
        break;
      }
    }
    const begun = this.clock.monotonic();
    const soon = new Date(this.clock.now() + AHEAD_MS).toISOString();
    const [row] = await this.database.query<{ at: number | null }>(sweeps.next, [behind, soon]);
    if (isWhole) {
      const took = this.clock.monotonic() - begun;
      // As much again for the claims, which read the same entries.
      sweeps.wholeFrom = took < SLOW_LOOK_MS ? 0 : begun + (2 * took) / SHARE_OF_LOOKS;
    }
    return row?.at ?? Number.POSITIVE_INFINITY;
  }

  /** A clock that was put back must not leave what is due now behind. */
  #overlapping(sweptTo: number): string {
    return new Date(Math.min(sweptTo, this.clock.now()) - OVERLAP_MS).toISOString();
  }
}
