import { Semaphore } from '../../platform/async/semaphore.ts';

/** Of so many sessions one is kept from campaigns. */
const ONE_OF = 10;

const ofCampaigns = (sessions: number): number =>
  sessions <= 1 ? sessions : sessions - Math.ceil(sessions / ONE_OF);

/**
 * A number of sessions that campaigns share with other mail. Campaigns have a line of their own before them,
 * and a tenth of the sessions is never theirs: a password reset does not wait behind a campaign at a slow
 * server. While other mail has all sessions, no more of a campaign than its part stands in the line with it.
 */
export class SharedSessions {
  readonly #all: Semaphore;
  readonly #bulk: Semaphore;

  constructor(sessions: number) {
    this.#all = new Semaphore(sessions);
    this.#bulk = new Semaphore(ofCampaigns(sessions));
  }

  /** The number of sessions. */
  get units(): number {
    return this.#all.units;
  }

  /** Sets the number of sessions. Where more are taken, no mail gets one until enough have been returned. */
  resize(sessions: number): void {
    this.#all.resize(sessions);
    this.#bulk.resize(ofCampaigns(sessions));
  }

  /** True when none is taken. */
  get idle(): boolean {
    return this.#all.idle;
  }

  /** Settles when all have been given back. */
  drained(): Promise<void> {
    return this.#all.drained();
  }

  /** Runs `work` with a session; rejects with what `refused` makes where none could be had. */
  run<T>(work: () => Promise<T>, isBulk: boolean, signal: AbortSignal, refused: () => Error): Promise<T> {
    const withOne = (): Promise<T> => this.#all.run(work, signal, refused);
    return isBulk ? this.#bulk.run(withOne, signal, refused) : withOne();
  }
}
