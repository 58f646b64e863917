import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** The numbers of the database's transactions: the one that begins now, and the lowest that is under way. */
const MARK = `select (extract(epoch from now()) * 1000)::float8 as at, pg_current_xact_id()::text as number,
  pg_snapshot_xmin(pg_current_snapshot())::text as lowest`;

/** The writes of all transactions with a lower number can be seen once these have ended. */
interface Mark {
  /** The time by the database's clock, before the number was given out (epoch ms). */
  readonly at: number;
  readonly number: bigint;
}

/**
 * A clock that is put back by more than this between two questions is seen, by the monotonic one. NTP steps a
 * clock from 128 ms on, in less time than lies between two questions.
 */
const UNSEEN_MS = 500;
/**
 * A moment is reported this much later, so that neither an unseen step nor the duration of a question can
 * lead before it.
 */
const KEPT_BACK_MS = 2 * UNSEEN_MS;

/** The database's clock (epoch ms), and ours (monotonic) when it had been answered. */
interface DatabaseTime {
  readonly at: number;
  readonly answered: number;
}

/** Marks that wait for older transactions to end. A transaction that is held open for long thins them out. */
const MOST_MARKS = 120;

/**
 * Knows a moment before which nothing can be written any more: every transaction with an earlier number has
 * ended, and later ones write no earlier moment. It asks the transactions, not the time that has passed.
 */
export class SettledTime {
  #marks: readonly Mark[] = [];
  #latest: DatabaseTime | null = null;
  #until: number | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /**
   * Up to then (epoch ms) all writes of a `wake_at` can be seen by any look that begins now; null while that
   * is not known.
   */
  get until(): number | null {
    return this.#until;
  }

  /** Asks again. Answers false when the database's clock was put back: then nothing that was known holds. */
  async ask(): Promise<boolean> {
    const asked = this.clock.monotonic();
    const [row] = await this.database.query<{ at: number; number: string; lowest: string }>(MARK, [], {
      isRoutine: true,
    });
    if (!row) throw new Error('The database did not report its transactions.');
    const at = Math.floor(row.at);
    const isForward = this.follow(at, asked);
    const lowest = BigInt(row.lowest);
    const marks = [...this.#marks, { at, number: BigInt(row.number) }];
    const ended = marks.filter(({ number }) => number <= lowest);
    const last = ended.at(-1);
    if (last) this.#until = last.at - KEPT_BACK_MS;
    this.#marks = thinned(marks.slice(ended.length));
    return isForward;
  }

  /**
   * Compares a reading of the database's clock with the one before. Answers false when it was put back: then
   * nothing that was known holds.
   * @param asked the monotonic moment of the question
   */
  follow(at: number, asked: number): boolean {
    const isForward = !this.#latest || at - this.#latest.at >= asked - this.#latest.answered - UNSEEN_MS;
    if (!isForward) this.forget();
    this.#latest = { at, answered: this.clock.monotonic() };
    return isForward;
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#marks = [];
    this.#until = null;
    this.#latest = null;
  }
}

/** A mark that is left out costs nothing but a while. */
const thinned = (marks: readonly Mark[]): readonly Mark[] =>
  marks.length <= MOST_MARKS ? marks : marks.filter((_, index) => index % 2 === 0);
