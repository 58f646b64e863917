import { LruMap } from '../../platform/async/lru-map.ts';
import type { Answer, Question } from './exchange.ts';

/** The limits of what is remembered. */
export interface MemoryLimits {
  /** Answers; the one that was asked for longest ago goes first. */
  readonly most: number;
  /**
   * Characters of the records of one answer: policies and keys have some hundred, and anybody may publish 64
   * KiB.
   */
  readonly longest: number;
  /** Seconds for which an answer is remembered, however long its TTL is: a new key or policy is seen soon. */
  readonly seconds: number;
}

const LIMITS: MemoryLimits = { most: 1_000, longest: 4_096, seconds: 60 };

interface MemoryEntry {
  readonly answer: Answer<unknown>;
  readonly until: number;
}

const keyOf = ({ name, type }: Question): string => `${type} ${name.toLowerCase()}`;

/**
 * Remembers answers for as long as their TTL says (RFC 1035 3.2.1), those that there is nothing too (RFC 2308
 * 5): the tree walk of DMARC asks for a record of the top-level domain with each message. The lookups of a
 * message took two thirds of the processor time of its checks (measured), and most mail comes from few
 * domains. What failed is asked for again.
 */
export class AnswerMemory {
  readonly #known: LruMap<string, MemoryEntry>;

  constructor(
    private readonly limits: MemoryLimits = LIMITS,
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    this.#known = new LruMap({ entries: limits.most });
  }

  /** The answer to a question; undefined where it has to be asked. */
  get<Value>(question: Question): Answer<Value> | undefined {
    const one = this.#known.get(keyOf(question));
    return one && this.monotonic() < one.until ? (one.answer as Answer<Value>) : undefined;
  }

  /** Keeps an answer for its TTL in seconds. */
  keep(question: Question, answer: Exclude<Answer<unknown>, { status: 'failed' }>, ttl: number): void {
    const { longest, seconds } = this.limits;
    const records = answer.status === 'found' ? answer.records : [];
    if (!(ttl > 0) || JSON.stringify(records).length > longest) return;
    const until = this.monotonic() + Math.min(ttl, seconds) * 1_000;
    this.#known.set(keyOf(question), { answer, until });
  }
}
