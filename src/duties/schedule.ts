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

/** Duties at work. */
export interface Schedule {
  /** Stops starting them, asks those that run to end, and waits for them. */
  stop(): Promise<void>;
}

/** Runs every duty at its times, never twice at once in this process; a failure is logged and tried at the next time. */
export function startDuties(duties: readonly Duty[], logger: Logger): Schedule {
  const running = new Map<string, Promise<unknown>>();
  const stopping = new AbortController();
  const crons = duties.map(
    ({ name, pattern, run }) =>
      new Cron(pattern, { utcOffset: 0, protect: true }, async () => {
        const work = run(stopping.signal).catch((error: unknown) =>
          logger.warn({ err: error, duty: name }, 'A duty failed.'),
        );
        running.set(name, work);
        await work;
      }),
  );
  return {
    async stop() {
      stopping.abort();
      for (const cron of crons) cron.stop();
      await Promise.all(running.values());
    },
  };
}
