import { FairQueue } from '../async/fair-slots.ts';
import { type PoolLimits, type PoolWorker, WorkerPool } from './worker-pool.ts';

/**
 * A worker pool that owners take in turns. One owner has all threads while no other one waits; the next owner
 * has the first thread that is free again, however much the first one asks.
 */
export class FairPool<Question, Answer> {
  readonly #pool: WorkerPool<Question, Answer>;
  readonly #turns: FairQueue;

  constructor(work: string, limits: PoolLimits, start: () => PoolWorker<Question, Answer>) {
    this.#pool = new WorkerPool(work, limits, start);
    this.#turns = new FairQueue({
      total: limits.threads,
      perKey: limits.threads,
      backlog: limits.mostWaiting,
      isWorkConserving: true,
    });
  }

  /** Uses a thread at the owner's turn; null when that never comes, or the signal fires before. */
  turn<Result>(
    owner: string,
    use: (pool: Pick<WorkerPool<Question, Answer>, 'ask'>) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result | null> {
    return this.#turns.take(owner, () => use(this.#pool), { signal });
  }

  /** Ends the threads; who still waits has no turn. */
  close(): void {
    this.#turns.close();
    this.#pool.close();
  }
}
