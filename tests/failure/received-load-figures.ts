import { cpus } from 'node:os';
import { machineTime, timesOfTrees } from '../bench/cpu.ts';

/** The processes of a run that has a name, such as a mail server or all instances. */
export type Roots = () => Readonly<Record<string, readonly number[]>>;

/** Microseconds of processors by name, since the first look. */
export type Spent = Readonly<Record<string, number>>;

/** Processor time of processes by name, those included that were killed meanwhile, up to their last look. */
export class Meter {
  readonly #first = new Map<number, number>();
  readonly #last = new Map<number, { readonly name: string; readonly us: number }>();
  #swaksUs = 0;
  readonly #own = process.cpuUsage();
  readonly #machine = machineTime().busy;
  #begun = false;

  constructor(private readonly roots: Roots) {
    this.look();
    this.#begun = true;
  }

  /** Adds the time of a process that has ended. */
  readonly addSwaks = (us: number): void => {
    this.#swaksUs += us;
  };

  /** Looks at all processes. One that appears later counts from its start. */
  look(): Spent {
    const names = new Map(
      Object.entries(this.roots()).flatMap(([name, pids]) => pids.map((pid) => [pid, name])),
    );
    for (const [pid, us] of timesOfTrees([...names.keys()])) {
      if (!this.#begun) this.#first.set(pid, us);
      this.#last.set(pid, { name: names.get(pid) ?? '', us });
    }
    const sums: Record<string, number> = {};
    for (const [pid, { name, us }] of this.#last)
      sums[name] = (sums[name] ?? 0) + us - (this.#first.get(pid) ?? 0);
    const { user, system } = process.cpuUsage(this.#own);
    return { ...sums, swaks: this.#swaksUs, 'this program': user + system };
  }

  /** Of all processors: the time of others, while this run went on. */
  others(spent: Spent): number {
    return Math.max(
      0,
      machineTime().busy - this.#machine - Object.values(spent).reduce((sum, us) => sum + us, 0),
    );
  }
}

/** A message that is stored: its program, and when, in epoch ms. */
export interface StoredAt {
  readonly by: string;
  readonly at: number;
}

/** A part of the time, in epoch ms. */
export interface Span {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export const within = (stored: readonly StoredAt[], { from, to }: Omit<Span, 'name'>): readonly StoredAt[] =>
  stored.filter(({ at }) => at >= from && at < to);

const perSecond = (count: number, ms: number): number => Math.round((count / Math.max(1, ms)) * 1_000);

export interface SpanFigures {
  readonly seconds: number;
  readonly messages: number;
  readonly 'a second': number;
  /** The longest time without a message, in ms. */
  readonly 'longest pause, ms': number;
}

/** The messages that were stored in a part of the time, and the longest pause between two. */
export function spanFigures(stored: readonly StoredAt[], span: Omit<Span, 'name'>): SpanFigures {
  const found = within(stored, span);
  const moments = [span.from, ...found.map(({ at }) => at).sort((a, b) => a - b), span.to];
  const pause = moments.reduce((most, at, index) => Math.max(most, at - (moments[index - 1] ?? at)), 0);
  const ms = span.to - span.from;
  return {
    seconds: Math.round(ms / 100) / 10,
    messages: found.length,
    'a second': perSecond(found.length, ms),
    'longest pause, ms': Math.round(pause),
  };
}

/** Messages of each program in a part of the time, with the time from its first to its last one. */
export function programFigures(stored: readonly StoredAt[], span: Omit<Span, 'name'>) {
  const figures: Record<string, { messages: number; seconds: number; 'a second': number }> = {};
  for (const [by, found] of Map.groupBy(within(stored, span), (one) => one.by)) {
    const moments = found.map(({ at }) => at);
    const ms = Math.max(...moments) - Math.min(...moments);
    figures[by] = {
      messages: found.length,
      seconds: Math.round(ms / 100) / 10,
      'a second': perSecond(found.length, ms),
    };
  }
  return figures;
}

/**
 * Processor time by name, and what the processors of this machine could do of these messages if they did
 * nothing else.
 */
export function costFigures(
  spent: Spent,
  counts: Readonly<Record<string, number>>,
): {
  readonly rows: Readonly<Record<string, object>>;
  readonly usAMessage: number;
  readonly possible: number;
} {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const total = Object.values(spent).reduce((sum, us) => sum + us, 0);
  const rows = Object.entries(spent).map(([name, us]) => {
    const messages = counts[name] ?? all;
    return [
      name,
      {
        messages,
        'µs a message': Math.round(us / Math.max(1, messages)),
        seconds: Math.round(us / 1e5) / 10,
      },
    ];
  });
  const usAMessage = total / Math.max(1, all);
  return { rows: Object.fromEntries(rows), usAMessage, possible: (cpus().length * 1e6) / usAMessage };
}
