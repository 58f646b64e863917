/** How many bytes of bodies may be on their way at once: of all callers together, and of one. */
export interface BudgetLimits {
  readonly total: number;
  readonly each: number;
}

/** Eight of the largest bodies of one caller; two such callers. */
export const ROOM: BudgetLimits = { total: 536_870_912, each: 268_435_456 };

/** Bodies up to this are not counted: the rate limits bound them, and they get through whoever else fills the room. */
const SMALL = 65_536;

/** The bytes of one body that is arriving. */
export interface BodyReservation {
  /** Counts so many bytes, all that there will be or those that have come; false when there is no room for them. */
  hold(bytes: number): boolean;
  /** The body has been read, or given up: nothing more of it is taken. */
  leave(): void;
}

/**
 * Room for the bodies that are arriving. A client has two minutes to send one, which is long enough to begin hundreds of
 * the largest: without a bound twelve stalled ones of 29 MiB held 366 MB (measured).
 */
export class BodyBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(private readonly limits: BudgetLimits = ROOM) {}

  enter(caller: string): BodyReservation {
    let own = 0;
    let hasLeft = false;
    return {
      hold: (bytes) => {
        if (hasLeft) return false;
        const more = bytes - own;
        if (bytes <= SMALL || more <= 0) return true;
        const held = this.#held.get(caller) ?? 0;
        if (held + more > this.limits.each || this.#total + more > this.limits.total) return false;
        this.#add(caller, more);
        own = bytes;
        return true;
      },
      leave: () => {
        if (!hasLeft) this.#add(caller, -own);
        hasLeft = true;
      },
    };
  }

  #add(caller: string, bytes: number): void {
    const held = (this.#held.get(caller) ?? 0) + bytes;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
    this.#total += bytes;
  }
}
