import { randomUUID } from 'node:crypto';
import type { Acceptance, OutsideRecord, SentEmail } from '../judge/outside-record.ts';
import { type RandomSource, randomFrom } from '../random.ts';
import { type Answer, type Ask, acceptancesIn, ask } from './ask.ts';
import { Requests, type SendRequest } from './requests.ts';

/** The instances under test, and the load on them. */
export interface ClientParts {
  /** One base URL for each instance. */
  readonly urls: readonly string[];
  readonly keys: { readonly test: string; readonly live: string };
  /** The verified domain that live mail is sent from; null where all mail is simulated. */
  readonly liveFrom: string | null;
  readonly record: OutsideRecord;
  readonly seed: number;
  /** Requests in progress at the same time. */
  readonly workers: number;
}

/** Tries of a request with an idempotency key; a request without a key is sent once. */
const TRIES = 200;
/** Pause before a request is repeated. It shapes the load; nothing is waited for. */
const REPEAT_MS = 100;

/** An application that sends, schedules, reschedules and cancels, and records every answer. */
export class ChaosClient {
  #stopped = false;
  readonly #chance: RandomSource;
  readonly #requests: Requests;
  #workers: Promise<void>[] = [];

  constructor(private readonly parts: ClientParts) {
    this.#chance = randomFrom(parts.seed);
    this.#requests = new Requests({ ...parts, chance: this.#chance });
  }

  start(): void {
    this.#workers = Array.from({ length: this.parts.workers }, () => this.#work());
  }

  /** Stops sending, and waits for the requests in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const dice = this.#chance.next();
      if (dice < 0.4) await this.#send(this.#requests.single(null), null);
      else if (dice < 0.58) await this.#send(this.#requests.single(null), randomUUID());
      else if (dice < 0.62) await this.#sendTwice(this.#requests.single(null));
      else if (dice < 0.76) await this.#sendBatch();
      else await this.#schedule();
      await Bun.sleep(this.#chance.between(0, 20));
    }
  }

  /**
   * A request with a key is repeated until every email is answered; one without a key is sent once. Neither
   * may be stored twice.
   */
  async #send(request: SendRequest, key: string | null): Promise<void> {
    const { record } = this.parts;
    for (let tried = 0; tried < (key === null ? 1 : TRIES); tried++) {
      if (tried === 1) record.exercised.askedAgain++;
      if (tried > 0) await Bun.sleep(REPEAT_MS);
      const { path, apiKey, body } = request;
      const answer = await this.#ask({ method: 'POST', path, apiKey, body, idempotencyKey: key });
      const acceptances = acceptancesIn(answer, request);
      const areFinal = request.emails.map((email, index) =>
        record.note(email, acceptances[index] as Acceptance),
      );
      if (areFinal.every((isFinal) => isFinal)) return;
    }
  }

  /**
   * Sends the same request with the same key to two instances at once: it must be stored once, whichever of
   * them answers.
   */
  async #sendTwice(request: SendRequest): Promise<void> {
    const key = randomUUID();
    this.parts.record.exercised.twiceAtOnce++;
    await Promise.all([this.#send(request, key), this.#send(request, key)]);
  }

  async #sendBatch(): Promise<void> {
    const request = this.#requests.batch();
    this.parts.record.exercised.batches++;
    const dice = this.#chance.next();
    if (dice < 0.25) await this.#sendTwice(request);
    else await this.#send(request, dice < 0.75 ? randomUUID() : null);
  }

  /**
   * Schedules an email and cancels or moves it close to the time it is due, when a race with the sending is
   * most likely.
   */
  async #schedule(): Promise<void> {
    const due = Date.now() + this.#chance.between(500, 3_000);
    const request = this.#requests.single(due);
    await this.#send(request, this.#chance.next() < 0.5 ? randomUUID() : null);
    const [email] = request.emails;
    if (!email || email.id === null) return;
    const dice = this.#chance.next();
    if (dice > 0.85) return;
    await Bun.sleep(Math.max(0, due - Date.now() + this.#chance.between(-40, 40)));
    const path = `/v1/emails/${email.id}`;
    if (dice < 0.6) await this.#cancel(email, path);
    else await this.#move(email, path);
  }

  async #cancel(email: SentEmail, path: string): Promise<void> {
    const { status } = await this.#ask({ method: 'DELETE', path, apiKey: this.#requests.keyOf(email) });
    email.cancelled = status === 200 ? 'acknowledged' : status === 409 ? 'refused' : 'unknown';
  }

  async #move(email: SentEmail, path: string): Promise<void> {
    const later = Date.now() + this.#chance.between(200, 1_500);
    const body = { scheduledAt: new Date(later).toISOString() };
    const { status } = await this.#ask({ method: 'PATCH', path, apiKey: this.#requests.keyOf(email), body });
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
