import { getPriority, setPriority } from 'node:os';
import { ownThread } from './thread-time.ts';

/**
 * Some way behind the others, and no further: of a core that it shares with one other thread it keeps a
 * quarter. At the end of the scale other programs of the machine would stop it altogether.
 */
const BEHIND = 5;
const LAST = 19;

/**
 * Has the thread that calls this come after those that others wait for, where the processor does not suffice
 * for all. Linux alone gives each thread a separate priority (sched(7)); elsewhere it would be that of the
 * whole process, which is left alone.
 */
export function giveWay(): void {
  const thread = ownThread();
  if (thread === null) return;
  try {
    setPriority(Number(thread), Math.min(LAST, getPriority() + BEHIND));
  } catch {
    // Without permission the thread works as all others do.
  }
}
