/** The recorded milliseconds of each file of tests. */
export type Timings = Readonly<Record<string, number>>;

/** A file that is new. */
const UNKNOWN_MS = 2_000;

/** `45 s`, `3 min 20 s`, `2 h 5 min` */
export function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/**
 * Reads from the output of `bun test` which files are through, and tells how much is left. The heading of a
 * file comes with each of its results that follows one of another file; no line says that it is through. So
 * as many files as there are workers, those that were heard of last, count as being at work.
 */
export class Progress {
  readonly #waiting: Map<string, number>;
  /** Those that have begun, the one that was heard of last behind the others. */
  readonly #begun = new Map<string, number>();
  readonly #files: number;
  #rest = '';

  constructor(
    files: readonly string[],
    timings: Timings,
    private readonly workers: number,
  ) {
    this.#waiting = new Map(files.map((file) => [file, timings[file] ?? UNKNOWN_MS]));
    this.#files = files.length;
  }

  read(output: string): void {
    const lines = (this.#rest + output).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#hear(line.trimEnd().replace(/:$/, ''));
  }

  /**
   * `120 of 480 files, 3 min 20 s; about 9 min 0 s left`. What is left takes as long for its share as what is
   * through took for its own.
   */
  tell(elapsedMs: number): string {
    const through = [...this.#begun.values()].slice(0, -this.workers);
    const doneMs = sumOf(through);
    const toDoMs = sumOf([...this.#waiting.values(), ...this.#begun.values()]) - doneMs;
    const told = `${through.length} of ${this.#files} files, ${spanOf(elapsedMs)}`;
    return doneMs === 0 ? told : `${told}; about ${spanOf((elapsedMs * toDoMs) / doneMs)} left`;
  }

  #hear(file: string): void {
    const ms = this.#waiting.get(file) ?? this.#begun.get(file);
    if (ms === undefined) return;
    this.#waiting.delete(file);
    this.#begun.delete(file);
    this.#begun.set(file, ms);
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
