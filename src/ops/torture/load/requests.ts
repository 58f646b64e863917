import { type ExpectedOutcome, OUTCOMES } from '../judge/expected-outcome.ts';
import { type OutsideRecord, recipientsOf, type SentEmail, subjectOf } from '../judge/outside-record.ts';
import type { RandomSource } from '../random.ts';

/** A request to send one email or a batch. */
export interface SendRequest {
  readonly path: '/v1/emails' | '/v1/emails/batch';
  readonly apiKey: string;
  readonly emails: readonly SentEmail[];
  readonly body: object;
}

/** The sources that requests are made from. */
export interface RequestParts {
  readonly chance: RandomSource;
  readonly record: OutsideRecord;
  readonly keys: { readonly test: string; readonly live: string };
  /** The verified domain that live mail is sent from; null where all mail is simulated. */
  readonly liveFrom: string | null;
}

/** Percentage of requests that are live. */
const LIVE_PERCENT = 20;
/** Percentage of emails with two recipients. */
const PAIR_PERCENT = 20;
const LARGEST_BATCH = 5;
const SIMULATED = Object.keys(OUTCOMES) as ExpectedOutcome[];
const LIVE: readonly ExpectedOutcome[] = ['taken', 'taken', 'taken', 'taken', 'refused'];

/** Makes random requests, and records their emails. */
export class Requests {
  constructor(private readonly parts: RequestParts) {}

  single(scheduledAt: number | null): SendRequest {
    const livemode = this.#isLive();
    const email = this.#ask(livemode, false, scheduledAt);
    return { path: '/v1/emails', apiKey: this.keyOf(email), emails: [email], body: this.#bodyOf(email) };
  }

  /** Makes a batch of two to five emails. */
  batch(): SendRequest {
    const livemode = this.#isLive();
    const size = this.parts.chance.between(2, LARGEST_BATCH);
    const emails = Array.from({ length: size }, () => this.#ask(livemode, true, null));
    const body = { emails: emails.map((email) => this.#bodyOf(email)) };
    return { path: '/v1/emails/batch', apiKey: this.keyOf({ livemode }), emails, body };
  }

  keyOf({ livemode }: Pick<SentEmail, 'livemode'>): string {
    return livemode ? this.parts.keys.live : this.parts.keys.test;
  }

  #isLive(): boolean {
    return this.parts.liveFrom !== null && this.parts.chance.next() * 100 < LIVE_PERCENT;
  }

  #ask(livemode: boolean, inBatch: boolean, notBefore: number | null): SentEmail {
    const { chance, record } = this.parts;
    const outcomes = [chance.pick(livemode ? LIVE : SIMULATED)];
    if (chance.next() * 100 < PAIR_PERCENT)
      // Live mail may have the same outcome twice: the server may accept one copy and not the other.
      outcomes.push(
        chance.pick(livemode ? LIVE : SIMULATED.filter((outcome) => !outcomes.includes(outcome))),
      );
    return record.ask({ livemode, outcomes, inBatch, notBefore });
  }

  #bodyOf(email: SentEmail): object {
    const { notBefore } = email;
    return {
      from: `torture@${(email.livemode && this.parts.liveFrom) || 'example.com'}`,
      to: recipientsOf(email).map(({ address }) => address),
      subject: subjectOf(email),
      text: 'x'.repeat(200),
      ...(notBefore === null ? {} : { scheduledAt: new Date(notBefore).toISOString() }),
    };
  }
}
