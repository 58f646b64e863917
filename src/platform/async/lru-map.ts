/** The bounds of a map. */
export interface LruLimits<Value> {
  readonly entries: number;
  /** The most of all weights together; without it only the entries are counted. */
  readonly weight?: number;
  /** The weight of a value, which must not change while the map holds it. */
  readonly weightOf?: (value: Value) => number;
}

/** A bounded map. When it is full, the entry that was set or read longest ago goes. */
export class LruMap<Key, Value> {
  /** In the order of their last use: a Map keeps the order of insertion. */
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  constructor(private readonly limits: LruLimits<Value>) {}

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the last to go. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** True for a key with a value; the order stays. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Sets a value; one that is too heavy for the whole map is not held, and displaces none. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const { entries, weight = Number.POSITIVE_INFINITY } = this.limits;
    if (this.#weightOf(value) > weight) return;
    this.#entries.set(key, value);
    this.#weight += this.#weightOf(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entries && this.#weight <= weight) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#weightOf(value);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  /** The values, the one to go next first. */
  values(): Iterator<Value> & Iterable<Value> {
    return this.#entries.values();
  }

  /** The entries, the one to go next first. */
  [Symbol.iterator](): Iterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }

  #weightOf(value: Value): number {
    return this.limits.weightOf?.(value) ?? 0;
  }
}
