import { type BudgetLimits, KeyedBudget } from './keyed-budget.ts';

/** Something that is waited for: in which group of things it may turn up, and how it is recognised. */
export interface WaitTarget {
  readonly group: string;
  /** Only what lies behind this id, which moves on with each look that found nothing. */
  readonly after: string;
}

/** The look-up of a room for what its waiters want. */
export interface RoomParts<Want extends WaitTarget> {
  readonly limits: BudgetLimits;
  /**
   * The id of what each one wants, in their order; null where there is none yet. One look serves all of them.
   */
  look(wanted: readonly Want[]): Promise<readonly (string | null)[]>;
  /** The same want once a look that began at that moment found nothing. */
  moveOn(want: Want, lookedAt: number): Want;
  now(): number;
  /** True where others may bring what is wanted without telling this process. */
  readonly hasOthers: boolean;
}

interface Place<Want> {
  want: Want;
  isLooked: boolean;
  isLate: boolean;
  settle(found: string | null): void;
  fail(error: unknown): void;
}

/** The shortest time between two looks: the next one finds everything that comes meanwhile. */
const PAUSE_MS = 20;
/** The time between two looks where others bring something as well. */
const OTHERS_MS = 1_000;

/** The answer to one waiter too many. */
export const FULL = Symbol('full');
/** The answer to waiters while the room is closed. */
export const CLOSED = Symbol('closed');
/** The answer to waiters that have gone; none of them reads it. */
export const GONE = Symbol('gone');

/**
 * A bounded number of waiters for something to arrive. The producer calls `came`; then one look serves all of
 * them, however many wait.
 */
export class WaitingRoom<Want extends WaitTarget> {
  readonly #places = new Set<Place<Want>>();
  readonly #budget: KeyedBudget;
  #isLooking = false;
  #isAsked = false;
  #others: ReturnType<typeof setInterval> | undefined;
  #close = Promise.withResolvers<typeof CLOSED>();

  constructor(private readonly parts: RoomParts<Want>) {
    this.#budget = new KeyedBudget(parts.limits);
  }

  /**
   * Resolves with the id of what is wanted, or null after `ms`. Each `holder` has its own number of places. A
   * waiter that has `gone` gives its place back at once.
   */
  async wait(
    holder: string,
    want: Want,
    ms: number,
    gone?: AbortSignal,
  ): Promise<string | null | typeof FULL | typeof CLOSED | typeof GONE> {
    if (gone?.aborted) return GONE;
    if (!this.#budget.take(holder)) return FULL;
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    const place: Place<Want> = { want, isLooked: false, isLate: false, settle: resolve, fail: reject };
    // The first look happens at any time limit: with a limit of zero it is the only one.
    const timer = setTimeout(() => {
      place.isLate = true;
      if (place.isLooked) resolve(null);
    }, ms);
    const left = Promise.withResolvers<typeof GONE>();
    const leave = (): void => left.resolve(GONE);
    gone?.addEventListener('abort', leave, { once: true });
    this.#places.add(place);
    if (this.parts.hasOthers) this.#others ??= setInterval(() => this.#ask(), OTHERS_MS);
    this.#ask();
    try {
      return await Promise.race([promise, this.#close.promise, left.promise]);
    } finally {
      gone?.removeEventListener('abort', leave);
      clearTimeout(timer);
      this.#places.delete(place);
      this.#budget.give(holder);
      if (this.#places.size === 0) this.#rest();
    }
  }

  /** Something has come in this group. */
  came(group: string): void {
    for (const { want } of this.#places) if (want.group === group) return this.#ask();
  }

  /** True while there is no waiter, so that a producer need not call. */
  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** Answers all waiters, because the service stops. */
  close(): void {
    this.#close.resolve(CLOSED);
    this.#rest();
  }

  #rest(): void {
    clearInterval(this.#others);
    this.#others = undefined;
  }

  #ask(): void {
    this.#isAsked = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    void this.#look();
  }

  async #look(): Promise<void> {
    while (this.#isAsked && this.#places.size > 0) {
      this.#isAsked = false;
      const places = [...this.#places];
      const lookedAt = this.parts.now();
      try {
        const found = await this.parts.look(places.map(({ want }) => want));
        for (const [index, place] of places.entries()) this.#looked(place, found[index] ?? null, lookedAt);
      } catch (error) {
        // A waiter that has looked once waits on: the database may be back before its time is over.
        for (const place of places) if (!place.isLooked) place.fail(error);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    this.#isLooking = false;
  }

  #looked(place: Place<Want>, found: string | null, lookedAt: number): void {
    place.isLooked = true;
    if (found !== null || place.isLate) place.settle(found);
    else place.want = this.parts.moveOn(place.want, lookedAt);
  }
}
