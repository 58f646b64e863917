import type { Violations } from '../judge/invariants.ts';
import type { EmailRow } from '../judge/judged-rows.ts';
import { numberIn, type OutsideRecord, type SentEmail } from '../judge/outside-record.ts';

/** Sent emails that were never acknowledged. */
export interface UnansweredEmails {
  readonly emails: number;
  /** Emails that may be stored all the same: a request had a connection, and no answer rules it out. */
  readonly mayBeThere: number;
}

/**
 * Matches each stored email with the sent one whose number is in its subject. None may be stored twice: only
 * a request with a key is repeated, and a request without one has a separate connection, so that not even the
 * HTTP client repeats it. An email that was never acknowledged may be stored once when its requests leave
 * that open, and not at all otherwise.
 */
export class RequestLedger {
  /** Number of stored emails, by the number of the sent one. */
  readonly #stored: Uint16Array;
  readonly #missing: Set<string>;

  constructor(
    private readonly record: OutsideRecord,
    private readonly violations: Violations,
  ) {
    this.#stored = new Uint16Array(record.emails.length);
    this.#missing = new Set(record.acknowledged.keys());
  }

  /** The sent email that a row belongs to; null when there is none. */
  sentEmailOf({ id, subject }: Pick<EmailRow, 'id' | 'subject'>): SentEmail | null {
    this.#missing.delete(id);
    const number = numberIn(subject);
    const email = number === null ? undefined : this.record.emails[number];
    const acknowledged = this.record.acknowledged.get(id);
    if (!email) {
      this.violations.add('unexplained', `${id} was never sent`);
      return null;
    }
    if (acknowledged && acknowledged !== email)
      this.violations.add(
        'wrongId',
        `${id} was answered for email ${acknowledged.number}, and is email ${email.number}`,
      );
    const before = this.#stored[email.number] ?? 0;
    this.#stored[email.number] = before + 1;
    if (before > 0) this.violations.add('storedTwice', `${id} is a second copy of email ${email.number}`);
    else if (email.id === null && !email.mayBeThere)
      this.violations.add('unexplained', `${id} is email ${email.number}, whose requests were all refused`);
    return email;
  }

  /** Reports what is only known after every row was matched. */
  close(): UnansweredEmails {
    const { contradictions, shared, leftOut, emails } = this.record;
    for (const id of this.#missing) this.violations.add('lost', `${id} was acknowledged and is not stored`);
    for (const what of contradictions) this.violations.add('keyTwice', what);
    for (const what of shared) this.violations.add('wrongId', what);
    for (const what of leftOut) this.violations.add('leftOut', what);
    const open = emails.filter(({ id }) => id === null);
    return { emails: open.length, mayBeThere: open.filter(({ mayBeThere }) => mayBeThere).length };
  }
}
