import { codeOf } from './sqlstate.ts';

/** The reason why a database that can be read refuses every write. */
export type WriteRefusal = 'full' | 'readOnly';

/** The SQLSTATEs of a full disk, and of a standby or a database that was set read-only. */
const REFUSALS: Readonly<Record<string, WriteRefusal>> = { '53100': 'full', '25006': 'readOnly' };
/** The age up to which a refusal counts. */
const TELLING_MS = 10_000;
const WRITES = /\b(insert into|update|delete from)\b/i;

/** Remembers the last refusal of a write: reads of such a database succeed as if nothing were wrong. */
export class RefusedWrites {
  #last: { readonly why: WriteRefusal; readonly at: number } | null = null;

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** The reason why the last write was refused shortly before; null when it was not. */
  get latest(): WriteRefusal | null {
    return this.#last !== null && this.monotonic() - this.#last.at < TELLING_MS ? this.#last.why : null;
  }

  /** Returns the outcome of a statement, and remembers a refusal. */
  async heed<T>(text: string, outcome: Promise<T>): Promise<T> {
    try {
      const result = await outcome;
      if (this.#last !== null && WRITES.test(text)) this.#last = null;
      return result;
    } catch (error) {
      const why = REFUSALS[codeOf(error)];
      if (why) this.#last = { why, at: this.monotonic() };
      throw error;
    }
  }
}
