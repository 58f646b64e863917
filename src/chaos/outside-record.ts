import type { ExpectedOutcome } from './expected-outcome.ts';

/** One email that was asked for, and what the client was told of it. */
export interface SentEmail {
  /** Stands in the subject, so that a stored email says whose it is. */
  readonly number: number;
  readonly livemode: boolean;
  /** What becomes of each recipient. */
  readonly fates: readonly ExpectedOutcome[];
  /** It was one of several in a request. */
  readonly inBatch: boolean;
  /** What was acknowledged; null while nothing was. */
  id: string | null;
  /** A request for it got no answer after its connection stood, or one that leaves open whether it was stored. */
  mayBeThere: boolean;
  /** Not to be sent before (epoch ms); null: at once. */
  notBefore: number | null;
  /** What became of a wish to cancel it: acknowledged, refused because it was too late, or nobody said. */
  cancelled: 'never asked' | 'acknowledged' | 'refused' | 'unknown';
}

/** What one answer says of one wish. */
export type Told =
  | { readonly what: 'accepted'; readonly id: string }
  /** Refused for good. */
  | { readonly what: 'refused' }
  /** Nothing came of this request: nobody took its connection, or another one with its key is at work. */
  | { readonly what: 'untouched' }
  /** Nobody can say whether it was stored. */
  | { readonly what: 'unknown' }
  /** The key is said to be that of another request, and is not. */
  | { readonly what: 'conflict' }
  /** The request was answered, and this one of its emails was not. */
  | { readonly what: 'left out' };

/** What the client did, beside sending one email to one recipient once. */
export interface Exercised {
  batches: number;
  /** Keyed requests that were sent to two instances at once. */
  twiceAtOnce: number;
  /** Keyed requests that were sent again for want of an answer. */
  askedAgain: number;
  /** Answers that were the stored ones of an earlier request. */
  replayed: number;
  /** Requests whose connection nobody took. */
  refusedConnections: number;
}

const SUBJECT = /^SentEmail (\d+)$/;

/** The subject that tells a wish's email. */
export const subjectOf = ({ number }: Pick<SentEmail, 'number'>): string => `SentEmail ${number}`;

/** The number in a subject that tells a wish's email; null in any other. */
export const numberIn = (subject: string | null): number | null => {
  const digits = SUBJECT.exec(subject ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

/** The addresses of a wish's recipients, each with its fate: no two wishes share one. */
export const recipientsOf = ({ number, livemode, fates }: Pick<SentEmail, 'number' | 'livemode' | 'fates'>) =>
  fates.map((fate, index) => ({
    fate,
    address: livemode
      ? `${fate}-${number}-${index}@receiver.example`
      : `${fate}+${number}-${index}@simulator.svc.test`,
  }));

/** What the client has seen, and nobody but the client. */
export class OutsideRecord {
  /** By their numbers. */
  readonly wishes: SentEmail[] = [];
  readonly acknowledged = new Map<string, SentEmail>();
  /** One idempotency key was answered in two ways. */
  readonly contradictions: string[] = [];
  /** One id was answered to two wishes. */
  readonly shared: string[] = [];
  /** Emails of a batch that its answer leaves out. */
  readonly leftOut: string[] = [];
  readonly exercised: Exercised = {
    batches: 0,
    twiceAtOnce: 0,
    askedAgain: 0,
    replayed: 0,
    refusedConnections: 0,
  };

  /** Notes what is going to be asked for. */
  wish(asked: Pick<SentEmail, 'livemode' | 'fates' | 'inBatch' | 'notBefore'>): SentEmail {
    const number = this.wishes.length;
    const wish: SentEmail = { ...asked, number, id: null, mayBeThere: false, cancelled: 'never asked' };
    this.wishes.push(wish);
    return wish;
  }

  /** Notes what an answer says of a wish; answers whether that is final. */
  hear(wish: SentEmail, told: Told): boolean {
    switch (told.what) {
      case 'accepted':
        this.#acknowledge(wish, told.id);
        return true;
      case 'refused':
        if (wish.id !== null) this.contradictions.push(`${wish.id} was accepted, and then refused`);
        return true;
      case 'untouched':
        return false;
      case 'unknown':
        wish.mayBeThere = true;
        return false;
      case 'conflict':
        this.contradictions.push(`the key of wish ${wish.number} was taken for that of another request`);
        wish.mayBeThere = true;
        return true;
      case 'left out':
        this.leftOut.push(`wish ${wish.number}`);
        wish.mayBeThere = true;
        return true;
    }
  }

  #acknowledge(wish: SentEmail, id: string): void {
    const holder = this.acknowledged.get(id) ?? wish;
    if (holder === wish) this.acknowledged.set(id, wish);
    else this.shared.push(`${id} was answered to the wishes ${holder.number} and ${wish.number}`);
    wish.id ??= id;
    if (wish.id !== id) this.contradictions.push(`${wish.id} and ${id}`);
  }
}
