import { UnavailableError } from '../errors/unavailable.ts';

/**
 * Threads that were ended and still run: nothing stops a regular expression. As many as there are places for
 * threads, and one more, may be at it before no other is started, so that one who makes threads run on takes
 * no more cores than those.
 */
export class LeavingThreads {
  readonly #leaving = new Set<{ readonly gone: Promise<void> }>();

  /** `work` names in errors what the threads do; `places` are the most threads at a time. */
  constructor(
    private readonly work: string,
    private readonly places: number,
  ) {}

  add(thread: { readonly gone: Promise<void> }): void {
    this.#leaving.add(thread);
    void thread.gone.then(() => this.#leaving.delete(thread));
  }

  /** @throws UnavailableError while too many are at it */
  refuseMore(): void {
    if (this.#leaving.size > this.places)
      throw new UnavailableError(
        `${this.work}: what took too long before is not over yet. Ask again in a minute.`,
      );
  }
}
