import { createTransport } from 'nodemailer';
import type { HandedMail, MailRecord } from '../judge/mail-record.ts';
import { type RandomSource, randomFrom } from '../random.ts';

/** The parts of the client that hands mail in. */
interface MailClientParts {
  /** The ports of the instances that take mail. */
  readonly ports: readonly number[];
  readonly recipients: readonly string[];
  readonly record: MailRecord;
  readonly seed: number;
}

const WORKERS = 4;
/** Pause before a message is handed in again. It shapes the load; nothing is waited for. */
const REPEAT_MS = 100;
const TIMEOUT_MS = 9_000;
/**
 * One message in this many is handed in again although it was answered 250, as by a server that lost the
 * answer.
 */
const AGAIN_EVERY = 4;
/** Messages that are handed in again at every instance once the faults are over. */
const LAST = 24;
/** Tries of each: an instance may still be on its way up. */
const MOST_TRIES = 200;
/** Most lines of a message. */
const MOST_LINES = 400;

/**
 * A mail server of someone else: it hands messages in by SMTP, and repeats each at any instance until one has
 * answered it.
 */
export class MailClient {
  #isStopped = false;
  readonly #chance: RandomSource;
  #workers: Promise<void>[] = [];

  constructor(private readonly parts: MailClientParts) {
    this.#chance = randomFrom(parts.seed + 3);
  }

  start(): void {
    this.#workers = Array.from({ length: WORKERS }, () => this.#work());
  }

  /** Hands nothing more in, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  /**
   * Hands the last messages in at every instance again, once all are up. Whether a message came twice during
   * the faults is a matter of chance: on a busy machine few instances were up for long enough.
   */
  async finish(): Promise<void> {
    const { ports, record } = this.parts;
    for (const mail of record.mails.slice(-LAST))
      for (const port of ports)
        for (let tried = 0; mail.refusal === null && tried < MOST_TRIES; tried++) {
          record.again++;
          if (this.#note(mail, await this.#say(mail, port))) break;
          await Bun.sleep(REPEAT_MS);
        }
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      await this.#hand(this.parts.record.add(this.#chance.between(1, MOST_LINES)));
      await Bun.sleep(this.#chance.between(0, 60));
    }
  }

  async #hand(mail: HandedMail): Promise<void> {
    const { record } = this.parts;
    for (let tried = 0; ; tried++) {
      if (tried > 0) record.again++;
      const isTaken = this.#note(mail, await this.#say(mail, this.#chance.pick(this.parts.ports)));
      if (isTaken && this.#chance.between(1, AGAIN_EVERY) > 1) return;
      if (mail.refusal !== null || this.#isStopped) return;
      await Bun.sleep(REPEAT_MS);
    }
  }

  /** Writes down an answer; true when the message was taken. */
  #note(mail: HandedMail, answer: string | null): boolean {
    if (answer === 'taken') mail.isAcknowledged = true;
    else if (answer !== null) mail.refusal = answer;
    return answer === 'taken';
  }

  /** `taken`; the text of a permanent refusal; null without an answer, or when it is to come again. */
  async #say({ raw }: HandedMail, port: number): Promise<string | null> {
    const times = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    const door = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...times });
    try {
      const sent = await door.sendMail({
        envelope: { from: 'torture@sender.example', to: [...this.parts.recipients] },
        raw,
      });
      // A recipient that was put off is none of this transaction.
      return sent.rejected.length === 0 ? 'taken' : null;
    } catch (error) {
      const { responseCode = 0, message } = error as Error & { readonly responseCode?: number };
      return responseCode >= 500 ? message : null;
    } finally {
      door.close();
    }
  }
}
