import { readFileSync, writeFileSync } from 'node:fs';

/** The memory of a process in MB, from Linux: now, and the most it ever was. */
export function memoryOf(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_000);
  return { now: read('VmRSS'), most: read('VmHWM') };
}

/** From now on the most is what it is now (proc_pid_clear_refs(5)). */
export function forgetMost(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
