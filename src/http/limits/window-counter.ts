/** What a counter answers: how many in the window so far, this one included, and when the window ends. */
export interface Hit {
  readonly used: number;
  readonly msLeft: number;
}

/** Counts names in fixed windows, each of which opens at the first hit and is never extended. */
export interface Counter {
  hit(name: string): Hit | Promise<Hit>;
}

interface Window {
  used: number;
  readonly endsAt: number;
}

/** Two for every newcomer: the table shrinks faster than it grows, and no request pays for a sweep. */
const SWEPT_PER_NEWCOMER = 2;

/**
 * A counter in this process's memory. All windows are equally long, so the table's own order, the order in which they
 * opened, is the order in which they end: what can go is always in front. When the table is full of open windows, the one
 * that ends first makes room; its client gains at most the rest of that window.
 */
export class LocalCounter implements Counter {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly windowMs: number,
    /** Milliseconds that never go back, whatever happens to the wall clock. */
    private readonly monotonic: () => number,
    private readonly capacity = 100_000,
  ) {}

  hit(name: string): Hit {
    const now = this.monotonic();
    const window = this.windows.get(name);
    if (!window || window.endsAt <= now) return this.open(name, now);
    window.used++;
    return { used: window.used, msLeft: window.endsAt - now };
  }

  /** How many names are in the table. */
  get size(): number {
    return this.windows.size;
  }

  private open(name: string, now: number): Hit {
    this.windows.delete(name);
    this.makeRoom(now);
    this.windows.set(name, { used: 1, endsAt: now + this.windowMs });
    return { used: 1, msLeft: this.windowMs };
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
