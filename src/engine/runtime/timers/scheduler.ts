import type { Logger } from 'pino';
import { untilNextTurn } from '../../../platform/async/batcher.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Clock, LeapMeter } from '../../../platform/time/clock.ts';
import { SettledTime } from '../../store/settled.ts';
import type { DueActors } from './due-batches.ts';
import { NextLook, NO_SWEEPS } from './next-look.ts';
import { AHEAD_MS, type NextSweep, Sweep } from './sweep.ts';

/**
 * Time between two sweeps where no alarm calls for one. Of the monotonic clock: the machine's may be put back
 * by an hour.
 */
const TICK_MS = 1_000;
/**
 * The same where nothing was due and no other instance lives: what this process writes has an alarm
 * (`expect`).
 */
const ALONE_MS = 3_400;
/**
 * The same where this process, beside that, has done nothing since, by the share of the time that the last
 * look saw ahead.
 */
const REST_SHARE = 2 / 3;
/**
 * The time that such a look sees ahead. On a server a notification may be lost, and an operator may change a
 * row by hand. The embedded database has no other writers.
 */
const SIGHT_MS = { postgres: 45_000, embedded: 900_000 };
/**
 * For this time after another instance has ended, whose alarms ended with it, it looks every second: claims
 * last five.
 */
const AWAKE_MS = 10_000;
/** The time between two ticks then. */
const QUIET_TICK_MS = 2_500;
/** An alarm waits no longer before it reads the clock again, which may be set. */
const LONGEST_ALARM_MS = 2_500;
/** A scheduler whose look is that late counts as late itself. */
const BLIND_MS = 5_000;
/** A change of the clock beside the monotonic one, after which it is looked at once. */
const LEAP_MS = 1_000;
/** The time between two questions what has settled while nothing is due. */
const IDLE_ASK_MS = 30_000;
/** The wait before due actors that could not be taken (no room) are tried again, against a busy loop. */
const LEAST_WAIT_MS = 20;
/**
 * The time between two looks for new actors that other processes leave to this one: a caller waits for each
 * of them.
 */
const LOOK_MS = 200;

/** The delay of the scheduler, for /health. */
export interface SchedulerHealth {
  /** `paused`: its delay is unknown, and nothing is claimed. */
  readonly status: 'ok' | 'late' | 'paused' | 'stopped';
  readonly oldestDueSeconds: number;
  /** The lead of the database's clock over ours. */
  readonly clockSkewMs: number;
}

/**
 * Wakes actors whose `wake_at` has come. It looks every second, and where nothing happens more rarely; a
 * wake-up before the next look gets a separate alarm. Everything else about time lives in the database: no
 * long timer is held in memory.
 */
export class Scheduler {
  readonly #sweeps: readonly Sweep[];
  readonly #settled: SettledTime;
  readonly #nextLook: NextLook;
  #ticking: ReturnType<typeof setTimeout> | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #alarmAt = Number.POSITIVE_INFINITY;
  #busy: Promise<void> = Promise.resolve();
  #sweeping: 'lives' | 'all' | null = null;
  /** A sweep was asked for while a look for new actors was under way. */
  #isWanted = false;
  #started = false;
  /** Others left new actors to this process before it started. */
  #looksFromStart = false;
  #stopped = false;
  /** Another instance may wake the same actors, until the roster says that there is none. */
  #areShared = true;
  /** Other instances may write what only a look finds. */
  #hasOthers = true;
  #oldestDueMs = 0;
  #sweptAt = Number.POSITIVE_INFINITY;
  /** When the first sweep since the last one that succeeded began; null where none has. */
  #begunAt: number | null = null;
  /** Monotonic moment from which it is asked again what has settled, and the backlogs are walked on. */
  #askFrom = Number.NEGATIVE_INFINITY;
  /** The last sweep found nothing due, and nothing to read back. */
  #isIdle = false;
  /** The count of what this process had done by then (`Database.worked`). */
  #workedBefore = 0;
  /** The time that the last look saw ahead. */
  #sightMs = AHEAD_MS;
  /** The monotonic moment up to which it looks every second. */
  #awakeUntil = Number.NEGATIVE_INFINITY;
  /** The monotonic moment from which it tells others again that there is no room here. */
  #tellsFrom = Number.NEGATIVE_INFINITY;
  /** The rest that the last sweep allowed: so late the next one may be without being called late. */
  #restMs = 0;
  /** Measures from the end of the last sweep. */
  readonly #leap: LeapMeter;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    wakeables: readonly DueActors[],
    private readonly logger: Logger,
    /** Called when due actors are left for want of room: other instances may have some. */
    private readonly onFull: () => void = () => {},
  ) {
    this.#leap = new LeapMeter(clock);
    this.#settled = new SettledTime(database, clock);
    this.#nextLook = new NextLook({ database, clock, settled: this.#settled });
    const isStopped = () => this.#stopped;
    const areShared = () => this.#areShared;
    const parts = { database, clock, settled: this.#settled, isStopped, areShared };
    this.#sweeps = wakeables.map((wakeable) => new Sweep(wakeable, parts));
  }

  start(): void {
    // A process that wakes nothing asks for nothing.
    if (this.#sweeps.length === 0) return;
    this.#started = true;
    this.#sweptAt = this.clock.monotonic();
    this.#rest();
    this.lookForAbandoned(this.#looksFromStart);
    this.sweep();
  }

  /** Stops claiming and waits for the claimed work. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#ticking);
    this.lookForAbandoned(false);
    clearTimeout(this.#alarm);
    await this.#busy;
  }

  /** Sets the next tick. */
  #rest(): void {
    clearTimeout(this.#ticking);
    if (!this.#started || this.#stopped) return;
    this.#ticking = setTimeout(
      () => {
        this.#tick();
        this.#rest();
      },
      this.#isQuiet && this.#isAtRest ? QUIET_TICK_MS : TICK_MS,
    );
  }

  #tick(): void {
    // A clock that was set, or a machine that was suspended: more may be due than the last look saw ahead.
    const hasLeapt = Math.abs(this.#leap.leapMs) > LEAP_MS;
    const restedMs = this.clock.monotonic() - this.#sweptAt;
    if (!this.#isQuiet || hasLeapt || restedMs >= this.#patienceMs) this.sweep();
  }

  get #isQuiet(): boolean {
    return this.#isIdle && !this.#hasOthers && this.clock.monotonic() >= this.#awakeUntil;
  }

  /** True while this process has done nothing since the last look. */
  get #isAtRest(): boolean {
    return this.database.worked === this.#workedBefore;
  }

  /** The time between two looks while it is quiet. */
  get #patienceMs(): number {
    return this.#isAtRest ? this.#sightMs * REST_SHARE : ALONE_MS;
  }

  /** Starts a sweep unless one runs. */
  sweep(): void {
    this.#run(() => this.#sweepAll(), true);
  }

  #run(work: () => Promise<void>, isWhole = false): void {
    if (this.#stopped) return;
    if (this.#sweeping) {
      this.#isWanted ||= isWhole && this.#sweeping === 'lives';
      return;
    }
    this.#sweeping = isWhole ? 'all' : 'lives';
    if (isWhole) {
      this.#isWanted = false;
      this.#begunAt ??= this.clock.monotonic();
    }
    this.#busy = work()
      .catch((error: unknown) => {
        // The alarm that began it has passed: only a look soon finds its actor.
        this.#isIdle = false;
        this.logger.warn({ err: error }, 'The scheduler could not read the due actors.');
      })
      .finally(() => {
        this.#sweeping = null;
        if (this.#isWanted) this.sweep();
      });
  }

  /**
   * Sets whether another instance wakes the same actors from now on. Where that is not known yet, each
   * instance learns it from the actors that it cannot wake.
   */
  shareTimers(areShared: boolean): void {
    this.#areShared = areShared;
  }

  /** Looks at once, and every second for a while. */
  stayAwake(): void {
    this.#awakeUntil = this.clock.monotonic() + AWAKE_MS;
    this.#rest();
    this.expect(this.clock.now());
  }

  /** Sets whether other instances live whose work this one does not hear of. */
  expectOthers(areThere: boolean): void {
    if (areThere === this.#hasOthers) return;
    this.#hasOthers = areThere;
    this.#rest();
  }

  /**
   * Looks for new actors that other processes leave to this one five times a second from now on, or stops
   * that.
   */
  lookForAbandoned(isOn: boolean): void {
    this.#looksFromStart = isOn;
    if (isOn === (this.#looking !== undefined) || (isOn && (!this.#started || this.#stopped))) return;
    clearInterval(this.#looking);
    this.#looking = isOn ? setInterval(() => this.#run(() => this.#sweepLives()), LOOK_MS) : undefined;
  }

  /** Takes note that an actor will be due then (epoch ms): before the next tick it gets an alarm. */
  expect(at: number): void {
    const now = this.clock.now();
    // A sweep under way may have passed it already.
    if (!this.#started || this.#stopped || at > now + this.#sightMs || at >= this.#alarmAt) return;
    this.#alarmAt = at;
    this.#setAlarm(at - now);
  }

  #setAlarm(ms: number): void {
    clearTimeout(this.#alarm);
    this.#alarm = setTimeout(
      () => {
        const left = this.#alarmAt - this.clock.now();
        if (ms > LONGEST_ALARM_MS && left > 0) return this.#setAlarm(left);
        this.#alarmAt = Number.POSITIVE_INFINITY;
        // A sweep under way may have looked before the actor was written.
        if (this.#sweeping) this.#isWanted = true;
        else this.sweep();
      },
      Math.max(LEAST_WAIT_MS, Math.min(ms, LONGEST_ALARM_MS)),
    );
  }

  /** There may be room where there was none: what was left for want of it is looked for again. */
  roomCame(): void {
    const isAwaited = this.#sweeps.some(({ awaitsRoom, wakeable }) => awaitsRoom && wakeable.room() > 0);
    if (isAwaited) this.expect(this.clock.now());
  }

  /** Resolves when the sweep under way, if any, has ended. */
  settled(): Promise<void> {
    return this.#busy;
  }

  get health(): SchedulerHealth {
    const { agrees, skewMs } = this.clock.agreement ?? { agrees: true, skewMs: 0 };
    const measured = { oldestDueSeconds: Math.round(this.#oldestDueMs / 100) / 10, clockSkewMs: skewMs };
    if (this.#stopped) return { status: 'stopped', ...measured };
    if (!agrees) return { status: 'paused', ...measured };
    const lateFrom = this.#begunAt ?? this.#sweptAt + this.#restMs;
    const isBlind = this.clock.monotonic() - lateFrom > BLIND_MS;
    return { status: isBlind || measured.oldestDueSeconds > 5 ? 'late' : 'ok', ...measured };
  }

  async #sweepAll(): Promise<void> {
    if (this.clock.agreement?.agrees === false) {
      this.#isIdle = false;
      return this.#restart();
    }
    let isTimeToAsk = this.clock.agreement !== undefined && this.clock.monotonic() >= this.#askFrom;
    if (isTimeToAsk) {
      if (!(await this.#settled.ask())) for (const sweep of this.#sweeps) sweep.restart();
    }
    let next = Number.POSITIVE_INFINITY;
    let oldest = 0;
    // An instance that has done something looks again soon, and need not see far.
    const isFar = this.#isQuiet && this.#isAtRest;
    this.#sightMs = isFar ? SIGHT_MS[this.database.kind] : AHEAD_MS;
    // Read before the looks, which may miss what is done during them.
    this.#workedBefore = this.database.worked;
    const failures: unknown[] = [];
    const found = await this.#restingSweeps(isFar);
    // After the clock was put back the backlog begins where it did at the start.
    if (!found) isTimeToAsk = true;
    const resting = found ?? NO_SWEEPS;
    this.#isIdle = resting.size === this.#sweeps.length && !this.#sweeps.some((one) => one.isReadingBack);
    for (const sweep of this.#sweeps) {
      const rest = resting.get(sweep);
      // The embedded database answers within a turn: without this, requests would wait 40 ms for the first
      // sweeps of a start.
      if (!rest) await untilNextTurn();
      try {
        const { due, alarm } = rest ?? (await sweep.run());
        next = Math.min(next, alarm);
        oldest = Math.max(oldest, this.clock.now() - due);
        if (isTimeToAsk || sweep.hasLeft) await sweep.readBack();
      } catch (error) {
        failures.push(error);
      }
    }
    this.expect(next);
    this.#tellIfFull();
    const askFrom = this.clock.monotonic() + (this.#isIdle ? IDLE_ASK_MS : TICK_MS / 2);
    this.#askFrom = isTimeToAsk ? askFrom : Math.min(this.#askFrom, askFrom);
    // One kind's failure does not keep the others asleep.
    if (failures.length > 0) throw failures[0];
    this.#oldestDueMs = oldest;
    this.#sweptAt = this.clock.monotonic();
    this.#begunAt = null;
    this.#restMs = this.#isQuiet ? this.#sightMs * REST_SHARE : 0;
    this.#leap.reset();
  }

  #tellIfFull(): void {
    const now = this.clock.monotonic();
    if (now < this.#tellsFrom || !this.#sweeps.some(({ awaitsRoom }) => awaitsRoom)) return;
    this.#tellsFrom = now + TICK_MS;
    this.onFull();
  }

  /** The sweeps that one statement shows to have nothing due; where it fails, each sweep looks by itself. */
  async #restingSweeps(isFar: boolean): Promise<ReadonlyMap<Sweep, NextSweep> | null> {
    try {
      const resting = await this.#nextLook.ask(this.#sweeps, this.#sightMs, isFar);
      if (!resting) for (const sweep of this.#sweeps) sweep.restart();
      return resting;
    } catch {
      // Too much has gathered behind a held transaction, or the database is away: the sweeps report it.
      return NO_SWEEPS;
    }
  }

  async #sweepLives(): Promise<void> {
    if (this.clock.agreement?.agrees === false) return;
    for (const sweep of this.#sweeps)
      if (sweep.wakeable.store.sql.isLookedForOften) this.expect((await sweep.run()).alarm);
  }

  /** Forgets all that was known of time. */
  #restart(): void {
    this.#settled.forget();
    this.#askFrom = Number.NEGATIVE_INFINITY;
    for (const sweep of this.#sweeps) sweep.restart();
  }
}
