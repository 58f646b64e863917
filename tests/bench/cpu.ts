import { readdirSync, readFileSync } from 'node:fs';
import type { CpuPerItem } from './table.ts';

/** Linux counts processor time in ticks of 10 ms (USER_HZ). */
const US_PER_TICK = 10_000;

interface Stat {
  readonly parent: number;
  /** Ticks of the process itself. */
  readonly own: number;
  /** Ticks of children that have ended and were waited for. */
  readonly reaped: number;
}

/** /proc/<pid>/stat, proc_pid_stat(5); null when the process has gone. */
function statOf(pid: number): Stat | null {
  try {
    // The name in brackets may hold spaces: fields are counted from behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const at = (field: number) => Number(fields[field - 3]);
    return { parent: at(4), own: at(14) + at(15), reaped: at(16) + at(17) };
  } catch {
    return null;
  }
}

/** The process that started another one: the server that a backend belongs to. */
export const parentOf = (pid: number): number => statOf(pid)?.parent ?? 0;

/** Ticks of a server and of all its backends, those included that have ended. */
function ticksOfServer(pid: number): number {
  const server = statOf(pid);
  const backends = readdirSync('/proc')
    .map((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : null))
    .filter((one) => one?.parent === pid);
  return (server?.own ?? 0) + (server?.reaped ?? 0) + backends.reduce((sum, one) => sum + (one?.own ?? 0), 0);
}

/**
 * Processor time in microseconds of a process and all that descend from it, those included that have ended.
 */
export const timeOfTree = (root: number): number => timesOfTrees([root]).get(root) ?? 0;

/** The same of several processes in one look, by their ids; none of them descends from another one. */
export function timesOfTrees(roots: readonly number[]): ReadonlyMap<number, number> {
  const all = new Map(
    readdirSync('/proc').flatMap((name) => {
      const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
      return stat ? [[Number(name), stat] as const] : [];
    }),
  );
  const wanted = new Set(roots);
  const rootOf = (pid: number): number | null => {
    if (wanted.has(pid)) return pid;
    const parent = all.get(pid)?.parent ?? 0;
    return parent > 1 ? rootOf(parent) : null;
  };
  const times = new Map<number, number>();
  for (const [pid, { own, reaped }] of all) {
    const root = rootOf(pid);
    if (root !== null) times.set(root, (times.get(root) ?? 0) + (own + reaped) * US_PER_TICK);
  }
  return times;
}

/** Starts measuring processor time; the answer tells what it came to, divided by a number of items. */
export function meterCpu(services: readonly number[], server: number): (items: number) => CpuPerItem {
  const read = () => ({
    service: services.reduce((sum, pid) => sum + (statOf(pid)?.own ?? 0), 0),
    postgres: ticksOfServer(server),
  });
  const before = read();
  return (items) => {
    const after = read();
    const each = (ticks: number) => (ticks * US_PER_TICK) / items;
    return {
      service: each(after.service - before.service),
      postgres: each(after.postgres - before.postgres),
    };
  };
}

/** Processor time of a process since its start, and the part of its first thread, in microseconds. */
export function timeOf(pid: number): { readonly process: number; readonly mainThread: number } {
  const nanoseconds = Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
  return { process: (statOf(pid)?.own ?? 0) * US_PER_TICK, mainThread: nanoseconds / 1_000 };
}

/** Processor time of a server in microseconds: of its backends, and of all its processes. */
export interface ServerTime {
  /** Those that work for clients now. */
  readonly backends: number;
  /** Those, the checkpointer, autovacuum and the like, and whatever has ended. */
  readonly all: number;
}

/** The title of a process that works for a client by TCP. */
const FOR_CLIENT = /^postgres: .*\(\d+\)/;

export function timeOfServer(pid: number): ServerTime {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  let backends = 0;
  for (const child of children) {
    const title = titleOf(child);
    if (title && FOR_CLIENT.test(title)) backends += (statOf(Number(child))?.own ?? 0) * US_PER_TICK;
  }
  return { backends, all: ticksOfServer(pid) * US_PER_TICK };
}

function titleOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return null;
  }
}

/** The time of all processors together since the machine's start, in microseconds. */
export interface MachineTime {
  /** For processes, and what the hypervisor gave to others. */
  readonly busy: number;
  /** For the kernel's interrupts, packets among them: no process is charged with it. */
  readonly interrupts: number;
}

/** The first line of /proc/stat, proc_stat(5). */
export function machineTime(): MachineTime {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * US_PER_TICK);
  return { busy: user + nice + system + steal, interrupts: irq + softirq };
}

/** Nanoseconds of the processor by thread: its name, and how much it gives way to others. */
function threadsOf(pid: number): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const base = `/proc/${pid}/task/${thread}`;
      const stat = readFileSync(`${base}/stat`, 'utf8');
      const nice = Number(stat.split(') ').at(-1)?.split(' ')[16]);
      const name = thread === String(pid) ? 'first thread' : (/\((.*)\)/s.exec(stat)?.[1] ?? '');
      const ns = Number(readFileSync(`${base}/schedstat`, 'utf8').split(' ')[0]);
      times.set(`${thread} ${name}${nice > 0 ? ` (nice ${nice})` : ''}`, ns);
    } catch {
      // It has ended.
    }
  }
  return times;
}

/** Microseconds an item, by name of thread. */
function perThread(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>, items: number) {
  const sums: Record<string, number> = {};
  for (const [thread, ns] of after) {
    const name = thread
      .replace(/^\d+ /, '')
      .replace(/\d+/g, (digits) => (thread.includes('nice') ? digits : '#'));
    sums[name] = (sums[name] ?? 0) + (ns - (before.get(thread) ?? 0)) / 1_000 / items;
  }
  return sums;
}

/**
 * Starts measuring the processor time of each thread of a process; the answer tells microseconds an item, by
 * name of thread.
 */
export function meterThreads(pid: number): (items: number) => Readonly<Record<string, number>> {
  const before = threadsOf(pid);
  return (items) => perThread(before, threadsOf(pid), items);
}
