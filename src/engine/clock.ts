import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
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

/** What the clock does with what is due. */
export interface Wakeable {
  readonly kind: Kind;
  /** How many due actors it can take now: nothing is claimed that would only wait in memory. */
  room(): number;
  /** Resolves when the claimed actors' timers are committed. */
  wake(rows: readonly ActorRow[]): Promise<void>;
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
    private readonly wakeables: readonly Wakeable[],
    private readonly logger: Logger,
  ) {
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
    if (!this.#started || this.#stopped || at > now + 1_000 || at >= this.#alarmAt) return;
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
    for (const wakeable of this.wakeables) {
      const wakeAt = await this.#sweep(wakeable);
      next = Math.min(next, wakeAt);
      oldest = Math.max(oldest, this.clock.now() - wakeAt);
    }
    this.#oldestDueMs = oldest;
    this.#sweptAt = this.clock.monotonic();
    this.expect(next);
  }

  /** Wakes all of one kind that is due; answers when the next one will be. */
  async #sweep({ kind, room, wake }: Wakeable): Promise<number> {
    const claim = claimDueStatement(kind);
    for (;;) {
      const limit = Math.min(CLAIM_BATCH, room());
      if (this.#stopped || limit <= 0) break;
      const now = this.clock.now();
      const rows = await this.database.query<ActorRow>(claim, [
        new Date(now).toISOString(),
        limit,
        new Date(now + CLAIM_MS).toISOString(),
      ]);
      if (rows.length > 0) await wake(rows);
      if (rows.length < limit) break;
    }
    const [row] = await this.database.query<{ at: number | null }>(nextWakeStatement(kind));
    return row?.at ?? Number.POSITIVE_INFINITY;
  }
}
