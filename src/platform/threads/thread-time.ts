import { readFileSync, readlinkSync } from 'node:fs';

// A limit on time is meant for work, and on a busy machine a thread that has done nothing may have waited for
// long. Linux tells the processor time of each thread.

/** The number of the thread that calls this; null where there are no numbers. */
export function ownThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1) ?? null;
  } catch {
    return null;
  }
}

const schedulerTime = (thread: string): number =>
  Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/**
 * The number of the thread that calls this, by which others learn its time; null where the system does not
 * count that (macOS, gVisor).
 */
export function measuredThread(): string | null {
  const thread = ownThread();
  try {
    return thread !== null && schedulerTime(thread) > 0 ? thread : null;
  } catch {
    return null;
  }
}

/**
 * Milliseconds of processor time of another thread of this process. For null, those of all threads together:
 * a thread has used no more, and while the process is stopped they are stopped as well. A limit that is met
 * by these alone says nothing of the thread's work. Takes 20 µs.
 */
export function timeOfThread(thread: string | null): number {
  if (thread !== null)
    try {
      return schedulerTime(thread);
    } catch {
      // The thread is gone.
    }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

type Usage = () => { readonly user: number; readonly system: number };
const { threadCpuUsage } = process as unknown as { readonly threadCpuUsage?: Usage };

/**
 * Milliseconds of processor time of the thread that calls this; of the wall clock on systems without that
 * figure.
 */
export function ownTime(): number {
  if (!threadCpuUsage) return performance.now();
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}
