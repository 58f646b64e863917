import type { Database } from '../../db/database.ts';
import { Lane } from '../../engine/lane.ts';

interface Asking<Row> {
  readonly id: string;
  readonly settle: (row: Row | null) => void;
  readonly fail: (error: unknown) => void;
}

/** Reads rows by id: whatever is asked for at the same time shares one statement, and nothing is remembered. */
export class BatchedRead<Row extends { readonly id: string }> {
  readonly #lane: Lane<Asking<Row>>;

  /** `sql` takes the ids as $1 and answers at most one row for each, its id among the columns. */
  constructor(
    name: string,
    private readonly database: Database,
    private readonly sql: string,
  ) {
    // Two at once: a read need not wait for one that began before it was asked for.
    this.#lane = new Lane(name, (batch) => this.#work(batch), undefined, 2);
  }

  /** The row as it is when this is called, or later; null when there is none. @throws Unavailable */
  one(id: string): Promise<Row | null> {
    return new Promise((settle, fail) => this.#lane.push({ id, settle, fail }));
  }

  async #work(batch: readonly Asking<Row>[]): Promise<void> {
    try {
      const rows = await this.database.query<Row>(this.sql, [[...new Set(batch.map(({ id }) => id))]]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const { id, settle } of batch) settle(byId.get(id) ?? null);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}
