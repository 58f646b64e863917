import type { Violations } from './invariants.ts';
import type { EmailRow } from './judged-rows.ts';
import { numberIn, type OutsideRecord, type SentEmail } from './outside-record.ts';

/** Wishes that nobody acknowledged. */
export interface Unanswered {
  readonly wishes: number;
  /** Of them, those that some instance may have stored: a request had its connection, and no answer that rules it out. */
  readonly mayBeThere: number;
}

/**
 * Explains each stored email by the wish whose number is in its subject. No wish may have two: a keyed request may be asked
 * any number of times, and one without a key is asked once, on a connection of its own, so that not even the HTTP client
 * repeats it. Where nobody acknowledged one, it may have one email if it may have been stored, else none.
 */
export class RequestLedger {
  /** How many emails of each wish were met. */
  readonly #stored: Uint16Array;
  readonly #missing: Set<string>;

  constructor(
    private readonly record: OutsideRecord,
    private readonly breaches: Violations,
  ) {
    this.#stored = new Uint16Array(record.wishes.length);
    this.#missing = new Set(record.acknowledged.keys());
  }

  /** Whose email this is; null when it is nobody's. */
  wishOf({ id, subject }: Pick<EmailRow, 'id' | 'subject'>): SentEmail | null {
    this.#missing.delete(id);
    const number = numberIn(subject);
    const wish = number === null ? undefined : this.record.wishes[number];
    const told = this.record.acknowledged.get(id);
    if (!wish) {
      this.breaches.add('unexplained', `${id} is of no wish`);
      return null;
    }
    if (told && told !== wish)
      this.breaches.add('astray', `${id} was answered to wish ${told.number}, and is of wish ${wish.number}`);
    const before = this.#stored[wish.number] ?? 0;
    this.#stored[wish.number] = before + 1;
    if (before > 0) this.breaches.add('wishTwice', `${id} is another email of wish ${wish.number}`);
    else if (wish.id === null && !wish.mayBeThere)
      this.breaches.add('unexplained', `${id} is of wish ${wish.number}, which nobody can have taken`);
    return wish;
  }

  /** What can only be said once every email was seen. */
  close(): Unanswered {
    const { contradictions, shared, leftOut, wishes } = this.record;
    for (const id of this.#missing) this.breaches.add('lost', `${id} was acknowledged and is not there`);
    for (const what of contradictions) this.breaches.add('keyTwice', what);
    for (const what of shared) this.breaches.add('astray', what);
    for (const what of leftOut) this.breaches.add('leftOut', what);
    const open = wishes.filter(({ id }) => id === null);
    return { wishes: open.length, mayBeThere: open.filter(({ mayBeThere }) => mayBeThere).length };
  }
}
