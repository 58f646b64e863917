/** The number of hits in the window, this one included, and the time until the window ends. */
export interface Hit {
  readonly used: number;
  readonly msLeft: number;
}

/** Counts names in fixed windows. A window opens at the first hit of its name and is never extended. */
export interface Counter {
  hit(name: string): Hit | Promise<Hit>;
}

interface Window {
  used: number;
  readonly endsAt: number;
}

/**
 * Two removals for each new name: the table shrinks faster than it grows, and no request pays for a whole
 * sweep.
 */
const SWEPT_PER_NEWCOMER = 2;

/**
 * A counter in the memory of this process. All windows are equally long, so the order in which they were
 * opened, which is the order of the map, is also the order in which they end: closed windows are always at
 * the front. When the table is full of open windows, the one that ends first is dropped; its client gains at
 * most the rest of that window.
 */
export class LocalCounter implements Counter {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly windowMs: number,
    /** Milliseconds that never go back, even when the wall clock does. */
    private readonly monotonic: () => number,
    private readonly capacity = 100_000,
  ) {}

  /** Counts `amount` at once; a negative one takes hits off, and zero only looks. */
  hit(name: string, amount = 1): Hit {
    const now = this.monotonic();
    const window = this.windows.get(name);
    if (!window || window.endsAt <= now) return this.open(name, now, amount);
    window.used += amount;
    return { used: window.used, msLeft: window.endsAt - now };
  }

  /** The number of names in the table. */
  get size(): number {
    return this.windows.size;
  }

  private open(name: string, now: number, used: number): Hit {
    this.windows.delete(name);
    if (used === 0) return { used, msLeft: this.windowMs };
    this.makeRoom(now);
    this.windows.set(name, { used, endsAt: now + this.windowMs });
    return { used, msLeft: this.windowMs };
  }

  private makeRoom(now: number): void {
    let swept = 0;
    for (const [name, { endsAt }] of this.windows) {
      const isFull = this.windows.size >= this.capacity;
      if (!isFull && (endsAt > now || swept === SWEPT_PER_NEWCOMER)) return;
      this.windows.delete(name);
      swept++;
    }
  }
}
