/** The most units that may be taken at once, by all keys together and by each key. */
export interface BudgetLimits {
  readonly total: number;
  readonly each: number;
}

/** A budget shared by keys. No caller waits for units, and a key that holds none takes no memory. */
export class KeyedBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(private readonly limits: BudgetLimits) {}

  /** Takes units for a key; false when there are too few. They are given back with `give`. */
  take(key: string, amount = 1): boolean {
    const held = (this.#held.get(key) ?? 0) + amount;
    if (held > this.limits.each || this.#total + amount > this.limits.total) return false;
    this.#set(key, held, amount);
    return true;
  }

  /** The units that a key may still take, by its own limit and by that of all keys. */
  left(key: string): { readonly own: number; readonly shared: number } {
    const { each, total } = this.limits;
    return { own: each - (this.#held.get(key) ?? 0), shared: total - this.#total };
  }

  /** Gives units of a key back. */
  give(key: string, amount = 1): void {
    this.#set(key, (this.#held.get(key) ?? 0) - amount, -amount);
  }

  #set(key: string, held: number, change: number): void {
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#total += change;
  }
}
