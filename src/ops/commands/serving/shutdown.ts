import { readFileSync } from 'node:fs';

/** Resolves with the name of the first signal that asks the process to stop. A second one ends it at once. */
export function stopRequested(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
    // A terminal that closes, or a rotation of logs: without this the kernel ends the process in the middle of its work.
    if (!ignoresHangUp()) process.once('SIGHUP', resolve);
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
