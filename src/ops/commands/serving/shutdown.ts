import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/**
 * Ends the first process of a container at a signal, as the kernel ends any other process: it drops each
 * signal for which that one has no handler (pid_namespaces(7)). A service puts its handlers in the place of
 * these before its work begins.
 */
export function endBySignals(exit: (code: number) => void): void {
  exitProcess = exit;
  for (const signal of stopSignals()) endBy(signal);
}

const endBy = (signal: NodeJS.Signals): void => {
  if (process.pid === 1) process.on(signal, end);
};

let exitProcess: (code: number) => void = () => {};

const end = (signal: NodeJS.Signals): void => exitProcess(128 + constants.signals[signal]);

/**
 * Resolves with the name of the first signal that asks the process to stop. A second SIGTERM or SIGINT ends
 * it at once, but no second SIGTERM a worker: a supervisor that signals all processes of a service has told
 * it already when its parent does.
 */
export function stopRequested({ isWorker = false } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of stopSignals()) {
      // A terminal that closes sends SIGHUP twice, from the kernel and from the shell.
      const isRepeated = signal === 'SIGHUP' || (signal === 'SIGTERM' && isWorker);
      process[isRepeated ? 'on' : 'once'](signal, () => {
        if (!isRepeated) endBy(signal);
        resolve(signal);
      });
      // Last, so that the signal has a handler all the time.
      process.off(signal, end);
    }
  });
}

/** Without a handler a terminal that closes would end the process in the middle of its work. */
const stopSignals = (): readonly NodeJS.Signals[] => [
  'SIGTERM',
  'SIGINT',
  ...(ignoresHangUp() ? [] : (['SIGHUP'] as const)),
];

/** The signals that the process ignores, a bit each from SIGHUP on (proc_pid_status). */
const IGNORED = /^SigIgn:\s*[0-9a-f]*([0-9a-f])$/m;

/** True under `nohup`, which a handler would undo, and where the system does not show it. */
function ignoresHangUp(): boolean {
  try {
    const [, last] = IGNORED.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return last === undefined || (Number.parseInt(last, 16) & 1) === 1;
  } catch {
    return true;
  }
}
