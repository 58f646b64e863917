import type { Subprocess } from 'bun';
import { environmentOfWorker, isExecutable } from '../../../platform/config/environment.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { MISUSE } from '../terminal.ts';
import { stopRequested } from './shutdown.ts';

/** The wait before a restart doubles from the first to the longest while a worker keeps dying. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
/** A worker that lives this long counts as healthy again. */
const WELL_AFTER_MS = 60_000;
const ENDED_BY_A_STOP: ReadonlySet<Subprocess['signalCode']> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP']);

/** The command line of this program: the executable, or Bun with the source file that it runs. */
const self = (): readonly string[] => (isExecutable() ? [process.execPath] : [process.execPath, Bun.main]);

/**
 * Runs `posthorn serve --workers N`: N equal processes that share the port, over which the kernel spreads
 * connections, and the database. A process that dies is started again, unless a setting is wrong. Returns the
 * exit code.
 */
export async function serveWith(workers: number, logger: Logger, only?: string): Promise<number> {
  const ending = Promise.withResolvers<void>();
  let stopping = false;
  const running = new Set<Subprocess>();
  const keepAlive = async (index: number): Promise<number> => {
    for (let rest = FIRST_REST_MS; ; rest = Math.min(rest * 2, LONGEST_REST_MS)) {
      const startedAt = performance.now();
      // The pipe closes when this process dies in any way, and the worker then ends as well.
      const child = Bun.spawn(
        [...self(), 'serve', '--worker', String(index), ...(only ? ['--only', only] : [])],
        {
          env: environmentOfWorker(workers),
          stdin: 'pipe',
          stdout: 'inherit',
          stderr: 'inherit',
        },
      );
      running.add(child);
      const code = await child.exited;
      running.delete(child);
      // A worker that was still starting may not have listened for signals yet; it had nothing in flight.
      if (stopping) return ENDED_BY_A_STOP.has(child.signalCode) ? 0 : code;
      // A wrong setting stays wrong: the worker has said which, and all of them have it.
      if (code === MISUSE) {
        stopAll();
        return code;
      }
      if (performance.now() - startedAt > WELL_AFTER_MS) rest = FIRST_REST_MS;
      logger.error(
        { worker: index, code, signal: child.signalCode },
        `A worker ended; it starts again in ${rest / 1_000} s`,
      );
      await Promise.race([Bun.sleep(rest), ending.promise]);
      if (stopping) return 0;
    }
  };
  const stopAll = (): void => {
    stopping = true;
    // A terminal has sent SIGINT and SIGHUP to the workers too, which a second one of the same would end at
    // once.
    for (const child of running) child.kill('SIGTERM');
    ending.resolve();
  };
  const all = Promise.all(Array.from({ length: workers }, (_, index) => keepAlive(index + 1)));
  void stopRequested().then(stopAll);
  const codes = await all;
  return codes.find((code) => code !== 0) ?? 0;
}

/** Resolves when the parent process of this worker is gone. */
export function abandoned(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.stdin.once('end', () => resolve('SIGTERM'));
    process.stdin.once('close', () => resolve('SIGTERM'));
    process.stdin.resume();
  });
}
