import type { Question } from './exchange.ts';

/** The limits of what is remembered. */
export interface MemoryLimits {
  /** Answers; the oldest goes first. */
  readonly most: number;
  /** Characters of the records of one answer: policies and keys have some hundred, and anybody may publish 64 KiB. */
  readonly longest: number;
  /** Seconds for which an answer is remembered, however long its TTL is: a new key or policy is seen soon. */
  readonly seconds: number;
}

const LIMITS: MemoryLimits = { most: 1_000, longest: 4_096, seconds: 60 };

interface MemoryEntry {
  readonly records: readonly unknown[];
  readonly until: number;
}

const keyOf = ({ name, type }: Question): string => `${type} ${name.toLowerCase()}`;

/**
 * Remembers records that were found for as long as their TTL says (RFC 1035 3.2.1). The lookups of a message took two thirds of the
 * processor time of its checks (measured), and most mail comes from few domains. What was not found, or failed, is asked for again.
 */
export class AnswerMemory {
  readonly #known = new Map<string, MemoryEntry>();

  constructor(
    private readonly limits: MemoryLimits = LIMITS,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** The records of the answer to a question; undefined where it has to be asked. */
  get<Value>(question: Question): readonly Value[] | undefined {
    const one = this.#known.get(keyOf(question));
    return one && this.monotonic() < one.until ? (one.records as readonly Value[]) : undefined;
  }

  /** Keeps the records of an answer for their TTL in seconds. */
  keep(question: Question, records: readonly unknown[], ttl: number): void {
    const { most, longest, seconds } = this.limits;
    if (!(ttl > 0) || JSON.stringify(records).length > longest) return;
    const key = keyOf(question);
    this.#known.delete(key);
    this.#known.set(key, { records, until: this.monotonic() + Math.min(ttl, seconds) * 1_000 });
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}
