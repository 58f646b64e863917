import { randomUUID } from 'node:crypto';
import { type Answer, type Ask, ask, toldBy } from './ask.ts';
import type { OutsideRecord, SentEmail, Told } from './outside-record.ts';
import { type Random, randomFrom } from './random.ts';
import { Requests, type SendRequest } from './requests.ts';

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

/** A client that means it asks again with the same key until somebody answers. */
const TRIES = 200;
/** What a client waits before it asks again. It is load, not a wait for something to happen. */
const REPEAT_MS = 100;

/** An application that sends, schedules, reschedules and cancels, and writes down what it was promised. */
export class TortureClient {
  #stopped = false;
  readonly #chance: Random;
  readonly #wishing: Requests;
  #workers: Promise<void>[] = [];

  constructor(private readonly parts: ClientParts) {
    this.#chance = randomFrom(parts.seed);
    this.#wishing = new Requests({ ...parts, chance: this.#chance });
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
      if (dice < 0.4) await this.#send(this.#wishing.single(null), null);
      else if (dice < 0.58) await this.#send(this.#wishing.single(null), randomUUID());
      else if (dice < 0.62) await this.#sendTwice(this.#wishing.single(null));
      else if (dice < 0.76) await this.#sendBatch();
      else await this.#schedule();
      await Bun.sleep(this.#chance.between(0, 20));
    }
  }

  /** With a key it is asked for until all of it is answered, without one once: nothing may be stored twice either way. */
  async #send(request: SendRequest, key: string | null): Promise<void> {
    const { record } = this.parts;
    for (let tried = 0; tried < (key === null ? 1 : TRIES); tried++) {
      if (tried === 1) record.exercised.askedAgain++;
      if (tried > 0) await Bun.sleep(REPEAT_MS);
      const { path, apiKey, body } = request;
      const answer = await this.#ask({ method: 'POST', path, apiKey, body, idempotencyKey: key });
      const told = toldBy(answer, request);
      const areFinal = request.wishes.map((wish, index) => record.hear(wish, told[index] as Told));
      if (areFinal.every((isFinal) => isFinal)) return;
    }
  }

  /** The same request with the same key to two instances at once: stored once, whoever answers. */
  async #sendTwice(request: SendRequest): Promise<void> {
    const key = randomUUID();
    this.parts.record.exercised.twiceAtOnce++;
    await Promise.all([this.#send(request, key), this.#send(request, key)]);
  }

  async #sendBatch(): Promise<void> {
    const request = this.#wishing.batch();
    this.parts.record.exercised.batches++;
    const dice = this.#chance.next();
    if (dice < 0.25) await this.#sendTwice(request);
    else await this.#send(request, dice < 0.75 ? randomUUID() : null);
  }

  /** Some time ahead; then cancelled or moved at about the moment at which it is due, when that is hardest. */
  async #schedule(): Promise<void> {
    const due = Date.now() + this.#chance.between(500, 3_000);
    const request = this.#wishing.single(due);
    await this.#send(request, this.#chance.next() < 0.5 ? randomUUID() : null);
    const [email] = request.wishes;
    if (!email || email.id === null) return;
    const dice = this.#chance.next();
    if (dice > 0.85) return;
    await Bun.sleep(Math.max(0, due - Date.now() + this.#chance.between(-40, 40)));
    const path = `/v1/emails/${email.id}`;
    if (dice < 0.6) await this.#cancel(email, path);
    else await this.#move(email, path);
  }

  async #cancel(email: SentEmail, path: string): Promise<void> {
    const { status } = await this.#ask({ method: 'DELETE', path, apiKey: this.#wishing.keyOf(email) });
    email.cancelled = status === 200 ? 'acknowledged' : status === 409 ? 'refused' : 'unknown';
  }

  async #move(email: SentEmail, path: string): Promise<void> {
    const later = Date.now() + this.#chance.between(200, 1_500);
    const body = { scheduledAt: new Date(later).toISOString() };
    const { status } = await this.#ask({ method: 'PATCH', path, apiKey: this.#wishing.keyOf(email), body });
    if (status === 200) email.notBefore = later;
  }

  async #ask({ path, ...rest }: Omit<Ask, 'url'> & { readonly path: string }): Promise<Answer> {
    const answer = await ask({ ...rest, url: `${this.#chance.pick(this.parts.urls)}${path}` });
    const { exercised } = this.parts.record;
    if (answer.replayed) exercised.replayed++;
    if (answer.status === -1) exercised.refusedConnections++;
    return answer;
  }
}
