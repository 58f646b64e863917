import { Cron } from 'croner';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../time/clock.ts';
import type { Duty } from './duty.ts';

/** No duty is timed to less than a second. */
const TICK_MS = 250;

/** Duties at work. */
export interface Schedule {
  /** Stops starting them, asks those that run to end, and waits for them. */
  stop(): Promise<void>;
}

/** Runs every duty at its times, never twice at once in this process; a failure is logged and tried at the next time. */
export function startDuties(duties: readonly Duty[], clock: Clock, logger: Logger): Schedule {
  const running = new Map<string, Promise<unknown>>();
  const stopping = new AbortController();
  const timed = duties.map((duty) => timing(duty, clock));
  const begin = ({ duty: { name, goesByAge, run }, isTime }: Timed): void => {
    if (!isTime() || running.has(name) || (goesByAge && clock.agreement?.agrees === false)) return;
    const work = run(stopping.signal)
      .catch((error: unknown) => logger.warn({ err: error, duty: name }, 'A duty failed.'))
      .finally(() => running.delete(name));
    running.set(name, work);
  };
  const ticking = setInterval(() => timed.forEach(begin), TICK_MS);
  return {
    async stop() {
      clearInterval(ticking);
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

interface Timed {
  readonly duty: Duty;
  /** Whether its time has come since it was last asked. */
  isTime(): boolean;
}

/** By the injected clock: croner's own timers go by the machine's, and stand still for an hour when it is put back by one. */
function timing(duty: Duty, clock: Clock): Timed {
  const cron = new Cron(duty.pattern, { utcOffset: 0, paused: true });
  const after = (at: number): number => cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  let next = after(clock.now());
  return {
    duty,
    isTime() {
      const now = clock.now();
      if (now < next) return false;
      next = after(now);
      return true;
    },
  };
}
