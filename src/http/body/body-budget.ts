import { type BudgetLimits, KeyedBudget } from '../../async/keyed-budget.ts';

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
  readonly #bytes: KeyedBudget;

  constructor(limits: BudgetLimits = ROOM) {
    this.#bytes = new KeyedBudget(limits);
  }

  enter(caller: string): BodyReservation {
    let own = 0;
    let hasLeft = false;
    return {
      hold: (bytes) => {
        if (hasLeft) return false;
        if (bytes <= SMALL || bytes <= own) return true;
        if (!this.#bytes.take(caller, bytes - own)) return false;
        own = bytes;
        return true;
      },
      leave: () => {
        if (!hasLeft) this.#bytes.give(caller, own);
        hasLeft = true;
      },
    };
  }
}
