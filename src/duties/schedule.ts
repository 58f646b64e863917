import { Cron } from 'croner';
import type { Database } from '../db/database.ts';
import type { Clock } from '../engine/clock-source.ts';
import type { Logger } from '../telemetry/logger.ts';
import { capturedPruner } from './captured-pruner.ts';
import { deliveryStopper } from './delivery-stopper.ts';
import { historyPruner } from './history-pruner.ts';
import { keyUseRecorder } from './key-use-recorder.ts';
import { liveDataPruner } from './live-data-pruner.ts';
import { mailCarrier } from './mail-carrier.ts';
import { partitionMaker } from './partition-maker.ts';
import { replyPruner } from './reply-pruner.ts';
import { testDataPruner } from './test-data-pruner.ts';
import { tokenPruner } from './token-pruner.ts';
import { usageAccountant } from './usage-accountant.ts';
import { webhookPruner } from './webhook-pruner.ts';

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

/** What the duties work with. */
export interface DutyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: { noteUse(): Promise<void> };
  readonly engine: { recoverMail(): Promise<number> };
}

/** All of them. Each may run on any number of instances at once and does its work once, or twice without harm. */
export const allDuties = (deps: DutyDeps): readonly Duty[] => [
  keyUseRecorder(deps),
  mailCarrier(deps),
  partitionMaker(deps),
  usageAccountant(deps),
  replyPruner(deps),
  tokenPruner(deps),
  testDataPruner(deps),
  liveDataPruner(deps),
  capturedPruner(deps),
  webhookPruner(deps),
  deliveryStopper(deps),
  historyPruner(deps),
];

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
