import type { ActorEvent } from './kind.ts';
import type { Order } from './tell-batch.ts';

/**
 * Does the I/O of one kind's orders and answers the outcome as events for the same actor. It writes no table.
 * Must have answered before the lease in the actor's context ends; what it throws is logged, and the lease decides.
 */
export interface Performer {
  /** Orders that may run at once; those beyond it wait in memory, bounded by `backlog`. */
  readonly slots: number;
  readonly backlog: number;
  perform(order: Order): Promise<readonly ActorEvent[]> | readonly ActorEvent[];
}

/** Runs orders of one kind within its slots. */
export class Performing {
  #running = 0;
  readonly #waiting: Order[] = [];
  #idle: (() => void)[] = [];

  constructor(
    private readonly performer: Performer,
    private readonly report: (order: Order, events: readonly ActorEvent[]) => void,
    private readonly failed: (order: Order, error: unknown) => void,
  ) {}

  /** How many more orders would start, or wait, without being dropped. */
  get room(): number {
    return this.performer.slots - this.#running + this.performer.backlog - this.#waiting.length;
  }

  /** Starts the order, or lets it wait. Beyond the backlog it is left to the actor's lease and the clock. */
  take(order: Order): void {
    if (this.#running < this.performer.slots) this.#start(order);
    else if (this.#waiting.length < this.performer.backlog) this.#waiting.push(order);
  }

  /** Resolves once no order runs; the waiting ones are left to their leases. */
  stopped(): Promise<void> {
    this.#waiting.length = 0;
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #start(order: Order): void {
    this.#running++;
    let outcome: ReturnType<Performer['perform']>;
    try {
      outcome = this.performer.perform(order);
    } catch (error) {
      this.failed(order, error);
      return this.#finished();
    }
    if (!(outcome instanceof Promise)) {
      this.report(order, outcome);
      return this.#finished();
    }
    void outcome
      .then(
        (events) => this.report(order, events),
        (error: unknown) => this.failed(order, error),
      )
      .finally(() => this.#finished());
  }

  #finished(): void {
    this.#running--;
    const next = this.#waiting.shift();
    if (next) this.#start(next);
    else if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
