import { codeOf } from './sqlstate.ts';

/** Why a database that still reads refuses every write. */
export type WriteRefusal = 'full' | 'readOnly';

/** The SQLSTATEs of a full disk, and of a standby or a database that was set read-only. */
const REFUSALS: Readonly<Record<string, WriteRefusal>> = { '53100': 'full', '25006': 'readOnly' };
/** A refusal older than this says nothing about now. */
const TELLING_MS = 10_000;
const WRITES = /\b(insert into|update|delete from)\b/i;

/** Remembers the last refusal of a write: such a database goes on reading as if nothing were wrong. */
export class RefusedWrites {
  #last: { readonly why: WriteRefusal; readonly at: number } | null = null;

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Why the last write was refused, a short while ago; null where it was not. */
  get latest(): WriteRefusal | null {
    return this.#last !== null && this.monotonic() - this.#last.at < TELLING_MS ? this.#last.why : null;
  }

  /** Hands a statement's outcome on, and remembers what it says about writes. */
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
