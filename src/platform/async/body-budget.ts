import { MESSAGE_MEMORY } from '../config/message-memory.ts';
import { type BudgetLimits, KeyedBudget } from './keyed-budget.ts';

/**
 * Bodies up to this size are not counted: the rate limits bound them, and a full budget must not stop them.
 */
export const SMALL = 65_536;

/** The bytes of one body that is arriving. */
export interface BodyReservation {
  /**
   * Raises the reservation to this many bytes, either announced or received so far. False when the budget is
   * used up.
   */
  hold(bytes: number): boolean;
  /** Returns the bytes to the budget, once the body was read or given up. */
  release(): void;
}

/**
 * Bounds the memory of the bodies that are arriving. A client has two minutes to send one, which is long
 * enough to begin hundreds of the largest: without a bound twelve stalled ones of 29 MiB held 366 MB
 * (measured).
 */
export class BodyBudget {
  readonly #bytes: KeyedBudget;

  constructor(limits: BudgetLimits = MESSAGE_MEMORY.requests) {
    this.#bytes = new KeyedBudget(limits);
  }

  reserve(caller: string): BodyReservation {
    let own = 0;
    let isReleased = false;
    return {
      hold: (bytes) => {
        if (isReleased) return false;
        if (bytes <= SMALL || bytes <= own) return true;
        if (!this.#bytes.take(caller, bytes - own)) return false;
        own = bytes;
        return true;
      },
      release: () => {
        if (!isReleased) this.#bytes.give(caller, own);
        isReleased = true;
      },
    };
  }
}
