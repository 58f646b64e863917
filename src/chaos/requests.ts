import { type ExpectedOutcome, OUTCOMES } from './expected-outcome.ts';
import { type OutsideRecord, recipientsOf, type SentEmail, subjectOf } from './outside-record.ts';
import type { Random } from './random.ts';

/** A request to send, and the wishes in it. */
export interface SendRequest {
  readonly path: '/v1/emails' | '/v1/emails/batch';
  readonly apiKey: string;
  readonly wishes: readonly SentEmail[];
  readonly body: object;
}

/** What wishes are made of. */
export interface RequestParts {
  readonly chance: Random;
  readonly record: OutsideRecord;
  readonly keys: { readonly test: string; readonly live: string };
  /** The verified domain that live mail is sent from; null where all mail is simulated. */
  readonly liveFrom: string | null;
}

/** Of a hundred requests so many are live. */
const LIVE_PERCENT = 20;
/** Of a hundred emails so many are to two recipients. */
const PAIR_PERCENT = 20;
const LARGEST_BATCH = 5;
const SIMULATED = Object.keys(OUTCOMES) as ExpectedOutcome[];
const LIVE: readonly ExpectedOutcome[] = ['taken', 'taken', 'taken', 'taken', 'refused'];

/** Thinks up what to ask for. */
export class Requests {
  constructor(private readonly parts: RequestParts) {}

  single(scheduledAt: number | null): SendRequest {
    const livemode = this.#isLive();
    const wish = this.#wish(livemode, false, scheduledAt);
    return { path: '/v1/emails', apiKey: this.keyOf(wish), wishes: [wish], body: this.#bodyOf(wish) };
  }

  /** Two emails or more, each a wish of its own. */
  batch(): SendRequest {
    const livemode = this.#isLive();
    const size = this.parts.chance.between(2, LARGEST_BATCH);
    const wishes = Array.from({ length: size }, () => this.#wish(livemode, true, null));
    const body = { emails: wishes.map((wish) => this.#bodyOf(wish)) };
    return { path: '/v1/emails/batch', apiKey: this.keyOf({ livemode }), wishes, body };
  }

  keyOf({ livemode }: Pick<SentEmail, 'livemode'>): string {
    return livemode ? this.parts.keys.live : this.parts.keys.test;
  }

  #isLive(): boolean {
    return this.parts.liveFrom !== null && this.parts.chance.next() * 100 < LIVE_PERCENT;
  }

  #wish(livemode: boolean, inBatch: boolean, notBefore: number | null): SentEmail {
    const { chance, record } = this.parts;
    const fates = [chance.pick(livemode ? LIVE : SIMULATED)];
    if (chance.next() * 100 < PAIR_PERCENT)
      // Of live mail the same fate twice is telling too: the server may have taken one copy and not the other.
      fates.push(chance.pick(livemode ? LIVE : SIMULATED.filter((fate) => !fates.includes(fate))));
    return record.wish({ livemode, fates, inBatch, notBefore });
  }

  #bodyOf(wish: SentEmail): object {
    const { notBefore } = wish;
    return {
      from: `torture@${(wish.livemode && this.parts.liveFrom) || 'example.com'}`,
      to: recipientsOf(wish).map(({ address }) => address),
      subject: subjectOf(wish),
      text: 'x'.repeat(200),
      ...(notBefore === null ? {} : { scheduledAt: new Date(notBefore).toISOString() }),
    };
  }
}
