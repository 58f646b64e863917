/**
 * The number of mails to different recipients that are refused for a rate, with no later one taken, before it
 * counts as a rate of all mail. A server that has such a rate refuses every mail until its window ends; a
 * server that limits one recipient refuses that recipient alone.
 */
const ENOUGH_RECIPIENTS = 3;

/** Tells the rate of a server from the rate of a recipient, where a refusal may be of either. */
export class RateEvidence {
  readonly #refused = new Set<string>();
  /** When the first of them was refused, monotonic. */
  #since = 0;

  /** Notes that a mail to the recipient was refused; true when the server refuses all mail. */
  refused(recipient: string, now: number): boolean {
    if (this.#refused.size === 0) this.#since = now;
    if (this.#refused.size < ENOUGH_RECIPIENTS) this.#refused.add(recipient);
    return this.#refused.size >= ENOUGH_RECIPIENTS;
  }

  /**
   * The server took a mail that was begun then. One that was on its way when the first was refused shows
   * nothing.
   */
  accepted(begunAt: number): void {
    if (begunAt > this.#since) this.#refused.clear();
  }
}
