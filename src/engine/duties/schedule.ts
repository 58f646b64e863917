import { Cron } from 'croner';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { type Clock, DAY_MS, LeapMeter } from '../../platform/time/clock.ts';
import type { Duty } from './duty.ts';
import { HELD_AFTER_STOP_MS, LONG_STOP_MS } from './last-run.ts';
import { WorkLook, type WorkLookParts } from './work-look.ts';

/** The longest time between two looks at the clock, which may be set, and at what this process has done. */
const LONGEST_MS = 2_500;
/** The shortest, so that what many requests want is considered once. */
const SHORTEST_MS = 250;

/** The look for work, among the names of the running duties. */
const LOOKING = 'look';
/**
 * A duty that runs for longer may hold up what waits behind it. Those of flows run each second, for three at
 * most.
 */
const LONG_MS = 5_000;

/** The running duties. */
export interface Schedule {
  /** Considers soon which duties are wanted: a request may have changed that. */
  consider(): void;
  /** Looks for work soon: another instance has left some. */
  hurry(): void;
  /** Stops starting them, asks those that run to end, and waits for them. */
  stop(): Promise<void>;
}

/** The dependencies of a schedule. */
export interface ScheduleParts extends WorkLookParts {
  readonly logger: Logger;
  /** When a service last ran here (epoch ms); null when that is not known. */
  readonly lastRun?: number | null;
  /**
   * Called when a duty fails, or its time comes while it runs still: other instances may do what waits behind
   * it.
   */
  onStuck?(): void;
  /**
   * True where tables lie on several nodes: no statement asks for several of them, so duties run at their
   * times.
   */
  readonly isDistributed?: boolean;
}

/**
 * Runs every duty at its times, never twice at once in this process; a failure is logged and tried at the
 * next time. A duty that says how to look for its work runs only when there is some.
 */
export function startDuties(duties: readonly Duty[], parts: ScheduleParts): Schedule {
  const { clock, logger, lastRun = null, isDistributed = false, onStuck } = parts;
  const running = new Map<string, Promise<unknown>>();
  /** The monotonic moments at which the running ones began. */
  const begun = new Map<string, number>();
  const stopping = new AbortController();
  const timed = duties.map((duty) => timing(duty, clock));
  const leaps = new LeapWatch(clock, logger, lastRun);
  const look = new WorkLook(duties, parts);
  /** Duties whose time has come, and whose work is to be looked for. */
  const asking = new Map<string, Duty>();
  const begin = ({ name, run }: Duty): void => {
    if (running.has(name) || stopping.signal.aborted) return;
    const work = run(stopping.signal)
      .catch((error: unknown) => {
        logger.warn({ err: error, duty: name }, 'A duty failed.');
        onStuck?.();
      })
      .finally(() => {
        running.delete(name);
        arm();
      });
    running.set(name, work);
    begun.set(name, clock.monotonic());
  };
  const consider = ({ duty, isTime }: TimedDuty): void => {
    const { name, goesByAge, asks, isWanted } = duty;
    const isDue = isTime();
    const isAwaited = isWanted?.() === true;
    if (!(isDue || isAwaited)) return;
    if (running.has(name)) {
      const ran = clock.monotonic() - (begun.get(name) ?? 0);
      if (isDue && asks && ran > LONG_MS) onStuck?.();
      return;
    }
    if (goesByAge && (clock.agreement?.agrees === false || leaps.isRecent)) return;
    if (asks && !isAwaited && !isDistributed) asking.set(name, duty);
    else begin(duty);
  };
  const ask = async (): Promise<void> => {
    const asked = [...asking.values()];
    asking.clear();
    try {
      for (const duty of await look.look(asked)) begin(duty);
    } catch (error) {
      logger.warn({ err: error }, 'The work of duties could not be looked for; each duty looks by itself.');
      // One question that fails must not stop the others.
      for (const duty of asked) begin(duty);
    }
  };
  const tick = (): void => {
    leaps.look();
    timed.forEach(consider);
    if (asking.size > 0 && look.dueIn === 0)
      running.set(
        LOOKING,
        ask().finally(() => {
          running.delete(LOOKING);
          arm();
        }),
      );
    arm();
  };
  let alarm: ReturnType<typeof setTimeout> | undefined;
  let alarmAt = Number.POSITIVE_INFINITY;
  const wake = (ms: number): void => {
    clearTimeout(alarm);
    if (stopping.signal.aborted) return;
    alarmAt = performance.now() + ms;
    alarm = setTimeout(tick, ms);
  };
  /** Sets the alarm for the next moment at which there is something to do. */
  const arm = (): void => {
    let ms = asking.size > 0 ? Math.min(LONGEST_MS, look.dueIn) : LONGEST_MS;
    for (const { duty, dueIn } of timed) if (!asking.has(duty.name)) ms = Math.min(ms, dueIn());
    wake(Math.max(1, Math.ceil(ms)));
  };
  wake(SHORTEST_MS);
  const soon = (): void => {
    if (alarmAt > performance.now() + SHORTEST_MS) wake(SHORTEST_MS);
  };
  return {
    consider: soon,
    hurry() {
      look.hurry();
      soon();
    },
    async stop() {
      stopping.abort();
      clearTimeout(alarm);
      await Promise.all(running.values());
    },
  };
}

interface TimedDuty {
  readonly duty: Duty;
  /** True when its time has come since the last call. */
  isTime(): boolean;
  /** The time until then. */
  dueIn(): number;
}

/**
 * Times a duty by the injected clock: croner's own timers follow the machine's, and pause when that is put
 * back.
 */
function timing(duty: Duty, clock: Clock): TimedDuty {
  // Read at the first look and not before, since a start would wait 4 ms for all of them.
  let cron: Cron | undefined;
  const after = (at: number): number => {
    cron ??= new Cron(duty.pattern, { utcOffset: 0, paused: true });
    return cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  };
  let last = clock.now();
  let next: number | null = null;
  return {
    duty,
    isTime() {
      const now = clock.now();
      // A clock that was put back must not leave the next time in its old future.
      next = next === null || now < last ? after(Math.min(now, last)) : next;
      last = now;
      if (now < next) return false;
      next = after(now);
      return true;
    },
    dueIn: () => (next ?? last) - clock.now(),
  };
}

/** The leap, beside the monotonic clock, from which on a clock was set or the machine was suspended. */
const LEAP_MS = 2_500;
/**
 * The time after a leap in which nothing is removed for its age: a clock that is wrong for a moment must not
 * cost a day's mail.
 */
const HELD_AFTER_LEAP_MS = 15 * 60_000;

/** Watches the clock for leaps forward, which the embedded database, whose clock is the machine's, shares. */
class LeapWatch {
  readonly #leap: LeapMeter;
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    lastRun: number | null,
  ) {
    this.#leap = new LeapMeter(clock);
    if (lastRun !== null) this.#judgeStart(clock.now() - lastRun);
  }

  /** A process that starts under a wrong clock sees no leap, but a long time in which nothing ran. */
  #judgeStart(stoppedMs: number): void {
    if (stoppedMs < LONG_STOP_MS) return;
    this.#heldUntil = this.clock.monotonic() + HELD_AFTER_STOP_MS;
    this.logger.warn(
      { stoppedMs },
      `According to the clock, no instance has run for ${(stoppedMs / DAY_MS).toFixed(1)} days: retention removes nothing in the next hour. If the clock is wrong, stop the service and correct it.`,
    );
  }

  get isRecent(): boolean {
    return this.clock.monotonic() < this.#heldUntil;
  }

  look(): void {
    const leapMs = this.#leap.reset();
    if (leapMs < LEAP_MS) return;
    this.#heldUntil = Math.max(this.#heldUntil, this.clock.monotonic() + HELD_AFTER_LEAP_MS);
    this.logger.warn(
      { leapMs },
      'The clock has jumped ahead: retention removes nothing in the next 15 minutes.',
    );
  }
}
