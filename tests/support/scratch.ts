import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The bytes that a whole run needs at its peak; memory must have as much beside it for the processes. */
const ROOM = 4 * 1024 ** 3;
const IN_MEMORY = '/dev/shm';

/**
 * Makes the folder of everything that a run writes, in memory where there is room. Each of a thousand test
 * databases is a copy of 1,400 files, and ext4 looks through all that were deleted within the last minute
 * before it makes a new one: a tenth of the run's processor time (perf: `recently_deleted`). No test asks
 * what outlives a loss of power.
 */
export function scratchFolder(): string {
  removeAbandoned();
  const place = isRoomy() ? IN_MEMORY : tmpdir();
  // A short name: the path of a socket has at most 107 characters.
  const folder = mkdtempSync(join(place, `ph-${process.pid}-`));
  // Other accounts use it as they use /tmp: PostgreSQL does not run as root.
  chmodSync(folder, 0o1777);
  return folder;
}

/** Gives the memory back that a run held which was killed. */
function removeAbandoned(): void {
  try {
    for (const name of readdirSync(IN_MEMORY)) {
      const pid = /^ph-(\d+)-\w+$/.exec(name)?.[1];
      if (pid && !isRunning(Number(pid))) rmSync(join(IN_MEMORY, name), { recursive: true, force: true });
    }
  } catch {
    // Another user's, or a system without it.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const available = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    // A container may be allowed less than the machine has.
    const allowed = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    return bavail * bsize >= ROOM && Math.min(Number(available) * 1024, allowed) >= 2 * ROOM;
  } catch {
    // A system without it.
    return false;
  }
}
