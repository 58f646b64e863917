import { readFileSync } from 'node:fs';

/**
 * Resolves with the name of the first signal that asks the process to stop. A second SIGTERM or SIGINT ends it at once, but no second
 * SIGTERM a worker: a supervisor that signals all processes of a service has told it already when its parent does.
 */
export function stopRequested({ isWorker = false } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process[isWorker ? 'on' : 'once']('SIGTERM', resolve);
    process.once('SIGINT', resolve);
    // A terminal that closes: without this the kernel ends the process in the middle of its work. It comes twice, from the kernel
    // and from the shell.
    if (!ignoresHangUp()) process.on('SIGHUP', resolve);
  });
}

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
