import { randomUUID } from 'node:crypto';
import { type Chance, chanceOf } from './chance.ts';
import {
  type Acknowledged,
  ENDS,
  type Fate,
  type LIVE_ENDS,
  type LiveFate,
  type OutsideRecord,
} from './outside-record.ts';

/** What the client speaks to. */
export interface ClientParts {
  /** Where the instances are reached. */
  readonly urls: readonly string[];
  readonly keys: { readonly test: string; readonly live: string };
  /** The verified domain that live mail is sent from; null where all mail is simulated. */
  readonly liveFrom: string | null;
  readonly record: OutsideRecord;
  readonly seed: number;
  /** How many requests it has under way at most. */
  readonly workers: number;
}

const PATIENCE_MS = 9_000;
/** A client that means it asks again with the same key until somebody answers. */
const TRIES = 200;
const FATES = Object.keys(ENDS) as Fate[];
const LIVE_FATES: readonly LiveFate[] = [
  'taken',
  'taken',
  'taken',
  'taken',
  'refused',
] satisfies (keyof typeof LIVE_ENDS)[];
/** Of a hundred emails so many are live. */
const LIVE_PERCENT = 30;

interface Answer {
  readonly status: number;
  readonly id: string | null;
}

/** What is sent, and with which key. */
interface Wish {
  readonly fate: Fate | LiveFate;
  readonly livemode: boolean;
  readonly key: string;
  readonly body: object;
}

interface Receipt {
  readonly data?: { readonly id?: string };
}

/** An application that sends, schedules, reschedules and cancels, and writes down what it was promised. */
export class TortureClient {
  #stopped = false;
  readonly #chance: Chance;
  #workers: Promise<void>[] = [];
  #wishes = 0;

  constructor(private readonly parts: ClientParts) {
    this.#chance = chanceOf(parts.seed);
  }

  start(): void {
    this.#workers = Array.from({ length: this.parts.workers }, () => this.#work());
  }

  /** Lets what is under way be answered, or given up. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const dice = this.#chance.next();
      if (dice < 0.5) await this.#send(null, null);
      else if (dice < 0.7) await this.#send(null, randomUUID());
      else if (dice < 0.75) await this.#sendTwice();
      else await this.#schedule();
      await Bun.sleep(this.#chance.between(0, 20));
    }
  }

  /** One email; with a key it is asked for until it is answered. */
  async #send(scheduledAt: number | null, key: string | null): Promise<Acknowledged | null> {
    const wish = this.#wish(scheduledAt);
    const tries = key === null ? 1 : TRIES;
    for (let left = tries; left > 0; left--) {
      const { status, id } = await this.#ask('POST', '/v1/emails', wish, key);
      if (status === 202 && id) return this.parts.record.acknowledge(id, wish, scheduledAt);
      if (status >= 400 && status < 500 && status !== 409) {
        this.parts.record.refused++;
        return null;
      }
      if (key !== null) await Bun.sleep(100);
    }
    this.parts.record.unanswered++;
    return null;
  }

  /** The same request with the same key to two instances at once: one email, whoever answers. */
  async #sendTwice(): Promise<void> {
    const key = randomUUID();
    const wish = this.#wish(null);
    const ask = () => this.#askUntilAnswered(wish, key);
    const ids = (await Promise.all([ask(), ask()])).filter((id) => id !== null);
    const [first, second = first] = ids;
    if (first === undefined) this.parts.record.unanswered++;
    else this.parts.record.acknowledge(first, wish, null);
    if (first !== second) this.parts.record.contradictions.push(`${first} and ${second}`);
  }

  async #askUntilAnswered(wish: Wish, key: string): Promise<string | null> {
    for (let left = TRIES; left > 0; left--) {
      const { status, id } = await this.#ask('POST', '/v1/emails', wish, key);
      if (status === 202) return id;
      await Bun.sleep(100);
    }
    return null;
  }

  /** Some time ahead; then cancelled or moved at about the moment at which it is due, when that is hardest. */
  async #schedule(): Promise<void> {
    const due = Date.now() + this.#chance.between(500, 3_000);
    const email = await this.#send(due, this.#chance.next() < 0.5 ? randomUUID() : null);
    if (!email) return;
    const wish = this.#chance.next();
    if (wish > 0.85) return;
    await Bun.sleep(Math.max(0, due - Date.now() + this.#chance.between(-40, 40)));
    if (wish < 0.6) await this.#cancel(email);
    else await this.#move(email);
  }

  async #cancel(email: Acknowledged): Promise<void> {
    const { status } = await this.#ask('DELETE', `/v1/emails/${email.id}`, { key: this.#keyOf(email) }, null);
    email.cancelled = status === 200 ? 'acknowledged' : status === 409 ? 'refused' : 'unknown';
  }

  async #move(email: Acknowledged): Promise<void> {
    const later = Date.now() + this.#chance.between(200, 1_500);
    const body = { scheduledAt: new Date(later).toISOString() };
    const wish = { key: this.#keyOf(email), body };
    const { status } = await this.#ask('PATCH', `/v1/emails/${email.id}`, wish, null);
    if (status === 200) email.notBefore = later;
  }

  #keyOf({ livemode }: Pick<Acknowledged, 'livemode'>): string {
    return livemode ? this.parts.keys.live : this.parts.keys.test;
  }

  /** A live recipient is asked for once: a refusal suppresses the address. */
  #wish(scheduledAt: number | null): Wish {
    const { liveFrom } = this.parts;
    const livemode = liveFrom !== null && this.#chance.next() * 100 < LIVE_PERCENT;
    const key = this.#keyOf({ livemode });
    const fate = this.#chance.pick<Fate | LiveFate>(livemode ? LIVE_FATES : FATES);
    const [from, to] = livemode
      ? [`torture@${liveFrom}`, `${fate}-${this.#wishes++}@receiver.example`]
      : ['torture@example.com', `${fate}@simulator.svc.test`];
    return { fate, livemode, key, body: bodyOf(from, to, scheduledAt) };
  }

  async #ask(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    { key, body }: Pick<Wish, 'key'> & { readonly body?: object },
    idempotencyKey: string | null,
  ): Promise<Answer> {
    try {
      const response = await fetch(`${this.#chance.pick(this.parts.urls)}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const receipt = (await response.json()) as Receipt;
      return { status: response.status, id: receipt.data?.id ?? null };
    } catch {
      // Killed, frozen or cut off: nobody said anything.
      return { status: 0, id: null };
    }
  }
}

const bodyOf = (from: string, to: string, scheduledAt: number | null) => ({
  from,
  to,
  subject: 'Torture',
  text: 'x'.repeat(200),
  ...(scheduledAt === null ? {} : { scheduledAt: new Date(scheduledAt).toISOString() }),
});
