/** How much may be taken at once: by all together, and by each key. */
export interface BudgetLimits {
  readonly total: number;
  readonly each: number;
}

/** So much in all and so much a key, at once: nobody waits, and keys that hold nothing cost nothing. */
export class KeyedBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(private readonly limits: BudgetLimits) {}

  /** Whether the key may take so much more; it is then given back with `give`. */
  take(key: string, amount = 1): boolean {
    const held = (this.#held.get(key) ?? 0) + amount;
    if (held > this.limits.each || this.#total + amount > this.limits.total) return false;
    this.#set(key, held, amount);
    return true;
  }

  /** Gives back as much as was taken. */
  give(key: string, amount = 1): void {
    this.#set(key, (this.#held.get(key) ?? 0) - amount, -amount);
  }

  #set(key: string, held: number, change: number): void {
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#total += change;
  }
}
