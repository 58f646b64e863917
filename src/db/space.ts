import { codeOf } from './sqlstate.ts';

/** SQLSTATE of a full disk. */
const DISK_FULL = '53100';
/** A refusal older than this says nothing about now. */
const TELLING_MS = 10_000;
const WRITES = /\b(insert into|update|delete from)\b/i;

/** Whether there is room for what is written: a full disk refuses that, and goes on reading as if nothing were wrong. */
export class Space {
  #refusedAt: number | null = null;

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Whether the last write was refused for want of room, a short while ago. */
  get isLacking(): boolean {
    return this.#refusedAt !== null && this.monotonic() - this.#refusedAt < TELLING_MS;
  }

  /** Hands a statement's outcome on, and remembers what it says about the room there is. */
  async heed<T>(text: string, outcome: Promise<T>): Promise<T> {
    try {
      const result = await outcome;
      if (this.#refusedAt !== null && WRITES.test(text)) this.#refusedAt = null;
      return result;
    } catch (error) {
      if (codeOf(error) === DISK_FULL) this.#refusedAt = this.monotonic();
      throw error;
    }
  }
}
