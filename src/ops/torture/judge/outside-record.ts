import type { ExpectedOutcome } from './expected-outcome.ts';

/** One email that the client asked for, and the answers about it. */
export interface SentEmail {
  /** Part of the subject, so that a stored email can be matched with the request. */
  readonly number: number;
  readonly livemode: boolean;
  /** The outcome of each recipient. */
  readonly outcomes: readonly ExpectedOutcome[];
  /** True for an email of a batch. */
  readonly inBatch: boolean;
  /** The acknowledged id; null while there is none. */
  id: string | null;
  /**
   * True after a request with an established connection got no answer, or one that leaves open whether the
   * email was stored.
   */
  mayBeThere: boolean;
  /** Earliest time of sending (epoch ms); null for at once. */
  notBefore: number | null;
  /** The answer to a cancellation; a refused one came too late, and 'unknown' had no answer. */
  cancelled: 'never asked' | 'acknowledged' | 'refused' | 'unknown';
}

/** The part of an answer that is about one email. */
export type Acceptance =
  | { readonly what: 'accepted'; readonly id: string }
  /** The email was refused and is not stored. */
  | { readonly what: 'refused' }
  /**
   * This request stored nothing: its connection was refused, or another request with its key is in progress.
   */
  | { readonly what: 'untouched' }
  /** It is open whether the email was stored. */
  | { readonly what: 'unknown' }
  /** The key is said to belong to another request, which is wrong. */
  | { readonly what: 'conflict' }
  /** The request was answered, but without this email. */
  | { readonly what: 'left out' };

/** Counts of the client's actions beside sending one email to one recipient once. */
export interface ClientActionCounts {
  batches: number;
  /** Keyed requests that were sent to two instances at once. */
  twiceAtOnce: number;
  /** Keyed requests that were repeated because no answer came. */
  askedAgain: number;
  /** Answers that were replayed from an earlier request. */
  replayed: number;
  /** Requests whose connection was refused. */
  refusedConnections: number;
}

const SUBJECT = /^SentEmail (\d+)$/;

export const subjectOf = ({ number }: Pick<SentEmail, 'number'>): string => `SentEmail ${number}`;

/** The number in the subject of a sent email; null for any other subject. */
export const numberIn = (subject: string | null): number | null => {
  const digits = SUBJECT.exec(subject ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

/** The recipients of an email, with outcomes; no two emails share an address. */
export const recipientsOf = ({
  number,
  livemode,
  outcomes,
}: Pick<SentEmail, 'number' | 'livemode' | 'outcomes'>) =>
  outcomes.map((outcome, index) => ({
    outcome,
    address: livemode
      ? `${outcome}-${number}-${index}@receiver.example`
      : `${outcome}+${number}-${index}@simulator.svc.test`,
  }));

/** Everything that the client has sent and seen. */
export class OutsideRecord {
  /** Sent emails by their numbers. */
  readonly emails: SentEmail[] = [];
  readonly acknowledged = new Map<string, SentEmail>();
  /** Idempotency keys with two different answers. */
  readonly contradictions: string[] = [];
  /** Ids that were answered to two emails. */
  readonly shared: string[] = [];
  /** Emails of a batch that are missing in its answer. */
  readonly leftOut: string[] = [];
  readonly exercised: ClientActionCounts = {
    batches: 0,
    twiceAtOnce: 0,
    askedAgain: 0,
    replayed: 0,
    refusedConnections: 0,
  };

  /** Records an email before it is sent. */
  ask(asked: Pick<SentEmail, 'livemode' | 'outcomes' | 'inBatch' | 'notBefore'>): SentEmail {
    const number = this.emails.length;
    const email: SentEmail = { ...asked, number, id: null, mayBeThere: false, cancelled: 'never asked' };
    this.emails.push(email);
    return email;
  }

  /** Records an answer; returns false when the request has to be repeated. */
  note(email: SentEmail, acceptance: Acceptance): boolean {
    switch (acceptance.what) {
      case 'accepted':
        this.#acknowledge(email, acceptance.id);
        return true;
      case 'refused':
        if (email.id !== null) this.contradictions.push(`${email.id} was accepted, and then refused`);
        return true;
      case 'untouched':
        return false;
      case 'unknown':
        email.mayBeThere = true;
        return false;
      case 'conflict':
        this.contradictions.push(`the key of email ${email.number} was taken for that of another request`);
        email.mayBeThere = true;
        return true;
      case 'left out':
        this.leftOut.push(`email ${email.number}`);
        email.mayBeThere = true;
        return true;
    }
  }

  #acknowledge(email: SentEmail, id: string): void {
    const holder = this.acknowledged.get(id) ?? email;
    if (holder === email) this.acknowledged.set(id, email);
    else this.shared.push(`${id} was answered to the emails ${holder.number} and ${email.number}`);
    email.id ??= id;
    if (email.id !== id) this.contradictions.push(`${email.id} and ${id}`);
  }
}
