import type { MonotonicClock } from '../time/monotonic.ts';
import { LruMap } from './lru-map.ts';

interface Entry<T> {
  readonly value: Promise<T>;
  until: number;
  /** 0 while the search goes on. */
  readonly weight: number;
}

/**
 * Caches values for a short time, and lets callers that ask meanwhile share one search: a mailing to one
 * domain then looks it up once and not a thousand times. A value is as old as the beginning of its search. A
 * failed search is not cached, and the entry that was used longest ago goes when there are too many.
 */
export class TtlCache<T> {
  readonly #entries: LruMap<string, Entry<T>>;

  constructor(
    private readonly options: {
      readonly forMs: (value: T) => number;
      readonly atMost: number;
      readonly monotonic: MonotonicClock;
      /**
       * The time for which callers share a search that has not ended. It has an end everywhere: one search
       * that never settles would hold all callers of its key.
       */
      readonly sharedMs: number;
      /** The most of all weights together; without it only the values are counted. */
      readonly weight?: number;
      readonly weightOf?: (value: T) => number;
    },
  ) {
    const { atMost, weight = Number.POSITIVE_INFINITY } = options;
    this.#entries = new LruMap({ entries: atMost, weight, weightOf: (entry) => entry.weight });
  }

  /** Returns the cached value of `key`, or the one that `find` returns. */
  async get(key: string, find: () => Promise<T>): Promise<T> {
    const { monotonic, forMs, sharedMs, weightOf } = this.options;
    const begun = monotonic();
    const known = this.#entries.get(key);
    if (known && known.until > begun) return known.value;
    const entry: Entry<T> = { value: find(), until: begun + sharedMs, weight: 0 };
    this.#entries.set(key, entry);
    try {
      const value = await entry.value;
      entry.until = begun + forMs(value);
      if (entry.until <= begun) this.#drop(key, entry);
      else if (weightOf && this.#entries.get(key) === entry)
        this.#entries.set(key, { ...entry, weight: weightOf(value) });
    } catch {
      this.#drop(key, entry);
    }
    return entry.value;
  }

  /** Drops a value. A search that began before is not cached when it ends. */
  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Drops all values, and those of searches that have not ended. */
  clear(): void {
    this.#entries.clear();
  }

  #drop(key: string, entry: Entry<T>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
