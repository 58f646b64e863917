import type { MonotonicClock } from '../time/monotonic.ts';

/**
 * Caches values for a short time, and lets callers that ask meanwhile share one search: a mailing to one domain then looks it
 * up once and not a thousand times. A value is as old as the beginning of its search. A failed
 * search is not cached, and the oldest entry goes when there are too many.
 */
export class TtlCache<T> {
  readonly #entries = new Map<string, { readonly value: Promise<T>; readonly until: number }>();

  constructor(
    private readonly options: {
      readonly forMs: (value: T) => number;
      readonly atMost: number;
      readonly monotonic: MonotonicClock;
    },
  ) {}

  /** Returns the cached value of `key`, or the one that `find` returns. */
  async get(key: string, find: () => Promise<T>): Promise<T> {
    const { monotonic, atMost, forMs } = this.options;
    const known = this.#entries.get(key);
    if (known && known.until > monotonic()) return known.value;
    const begun = monotonic();
    const value = find();
    this.#remember(key, value, Number.POSITIVE_INFINITY);
    if (this.#entries.size > atMost) this.#forgetOldest();
    try {
      const ms = forMs(await value);
      if (ms > 0) this.#remember(key, value, begun + ms);
      else this.#entries.delete(key);
    } catch {
      this.#entries.delete(key);
    }
    return value;
  }

  #remember(key: string, value: Promise<T>, until: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until });
  }

  #forgetOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
