import type { Database } from '../db/database.ts';

/** Where the transactions of the database stand: the number of one that begins now, and the lowest that is under way. */
const MARK = `select (extract(epoch from now()) * 1000)::float8 as at, pg_current_xact_id()::text as number,
  pg_snapshot_xmin(pg_current_snapshot())::text as lowest`;

/** Once everybody with a lower number has ended, what they wrote can be seen. */
interface Mark {
  /** By the database's clock, before the number was given out (epoch ms). */
  readonly at: number;
  readonly number: bigint;
}

/** Marks that wait for older transactions to end. A transaction that is held open for long thins them out. */
const MOST_MARKS = 120;

/**
 * Knows a moment before which nothing can be written any more: whoever had its number before has ended, and who got it
 * afterwards writes no earlier moment. It asks the transactions, not the time that has passed.
 */
export class SettledTime {
  #marks: readonly Mark[] = [];
  #latest = Number.NEGATIVE_INFINITY;
  #until: number | null = null;

  constructor(private readonly database: Database) {}

  /** Up to then (epoch ms) all writes of a `wake_at` can be seen by any look that begins now; null while that is not known. */
  get until(): number | null {
    return this.#until;
  }

  /** Asks again. Answers false when the database's clock was put back: then nothing that was known holds. */
  async ask(): Promise<boolean> {
    const [row] = await this.database.query<{ at: number; number: string; lowest: string }>(MARK);
    if (!row) throw new Error('The database did not say where its transactions stand.');
    const at = Math.floor(row.at);
    const isForward = at >= this.#latest;
    if (!isForward) this.forget();
    this.#latest = at;
    const lowest = BigInt(row.lowest);
    const marks = [...this.#marks, { at, number: BigInt(row.number) }];
    const ended = marks.filter(({ number }) => number <= lowest);
    this.#until = ended.at(-1)?.at ?? this.#until;
    this.#marks = thinned(marks.slice(ended.length));
    return isForward;
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#marks = [];
    this.#until = null;
    this.#latest = Number.NEGATIVE_INFINITY;
  }
}

/** A mark that is left out costs nothing but a while. */
const thinned = (marks: readonly Mark[]): readonly Mark[] =>
  marks.length <= MOST_MARKS ? marks : marks.filter((_, index) => index % 2 === 0);
