import { Semaphore } from './semaphore.ts';

/** The limits of work that runs and waits at once. */
export interface SlotLimits {
  /** The most that runs, over all keys. */
  readonly total: number;
  /** The most that runs for one key. */
  readonly perKey: number;
  /** The most that waits, over all keys. */
  readonly backlog: number;
  /**
   * True when one key may run all while no other one waits. The next key then waits for one piece of work to
   * end. Otherwise some slots stay free for it, as it has to be where work may take very long.
   */
  readonly isWorkConserving?: boolean;
}

/**
 * The share of the free slots that one key may take. The more slots are taken, the fewer a key may take, so
 * that some stay free for the next key however many keys keep theirs; a fixed limit would have to be tiny for
 * that.
 */
const FREE_SHARE = 8;

interface Queue<T> {
  running: number;
  readonly waiting: T[];
}

/**
 * Decides what runs next when each piece of work belongs to a key and some keys are slow. The key with the
 * least under way goes first, equals take turns, and one key's work keeps its order. Pure: it starts nothing
 * itself.
 */
export class FairSlots<T> {
  readonly #queues = new Map<string, Queue<T>>();
  /**
   * The keys with waiting work, by how much of theirs runs. Within a level the key that has waited longest
   * comes first.
   */
  readonly #levels: Set<string>[] = [];
  #running = 0;
  #waiting = 0;

  constructor(private readonly limits: SlotLimits) {}

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Lets work wait. Returns false, and keeps nothing, when as much of its key waits as the backlog has left
   * for others.
   */
  offer(key: string, work: T): boolean {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: [] };
    if (queue.waiting.length >= this.limits.backlog - this.#waiting) return false;
    this.#queues.set(key, queue);
    queue.waiting.push(work);
    this.#waiting += 1;
    if (queue.waiting.length === 1) this.#level(queue.running).add(key);
    return true;
  }

  /**
   * Takes a slot for the next work; undefined when nothing may start now. Where the next work does not fit
   * yet, no other overtakes it: what fits sooner would hold it for ever.
   */
  start(fits: (work: T) => boolean = () => true): { readonly key: string; readonly work: T } | undefined {
    const { total, perKey, isWorkConserving = false } = this.limits;
    const free = total - this.#running;
    if (free <= 0) return undefined;
    const most = isWorkConserving ? perKey : Math.min(perKey, Math.ceil(free / FREE_SHARE));
    for (let running = 0; running < most; running += 1)
      for (const key of this.#level(running))
        return fits(this.#queueOf(key).waiting[0] as T) ? { key, work: this.#begin(key) } : undefined;
    return undefined;
  }

  /** Gives the slot of a key back. */
  finish(key: string): void {
    const queue = this.#queueOf(key);
    this.#leave(key, queue);
    queue.running -= 1;
    this.#running -= 1;
    this.#enter(key, queue);
  }

  /** Takes back one work of a key that waits; the key keeps its turn. */
  withdraw(key: string, work: T): void {
    const queue = this.#queues.get(key);
    const index = queue?.waiting.indexOf(work) ?? -1;
    if (!queue || index === -1) return;
    queue.waiting.splice(index, 1);
    this.#waiting -= 1;
    if (queue.waiting.length > 0) return;
    this.#leave(key, queue);
    this.#enter(key, queue);
  }

  /** Drops the waiting work of a key and returns it; running work continues. */
  forget(key: string): readonly T[] {
    const queue = this.#queues.get(key);
    if (!queue) return [];
    this.#leave(key, queue);
    const dropped = queue.waiting.splice(0);
    this.#waiting -= dropped.length;
    this.#enter(key, queue);
    return dropped;
  }

  #begin(key: string): T {
    const queue = this.#queueOf(key);
    this.#leave(key, queue);
    const work = queue.waiting.shift() as T;
    queue.running += 1;
    this.#running += 1;
    this.#waiting -= 1;
    this.#enter(key, queue);
    return work;
  }

  #queueOf(key: string): Queue<T> {
    const queue = this.#queues.get(key);
    if (!queue) throw new Error('No work of this key runs.');
    return queue;
  }

  #leave(key: string, queue: Queue<T>): void {
    this.#level(queue.running).delete(key);
  }

  #enter(key: string, queue: Queue<T>): void {
    if (queue.waiting.length > 0) this.#level(queue.running).add(key);
    else if (queue.running === 0) this.#queues.delete(key);
  }

  #level(running: number): Set<string> {
    let level = this.#levels[running];
    if (!level) {
      level = new Set();
      this.#levels[running] = level;
    }
    return level;
  }
}

interface Waiter {
  readonly octets: number;
  readonly answer: (granted: boolean) => void;
}

/** The settings of one piece of work. */
export interface WorkOptions {
  readonly signal?: AbortSignal | undefined;
  /** The memory that it takes; none when left out. */
  readonly octets?: number;
}

/**
 * Runs the work of many keys within fair slots and within a memory. Work that needs more than all of it runs
 * alone. Work beyond the backlog, or still waiting at the stop, is not done.
 */
export class FairQueue {
  readonly #slots: FairSlots<Waiter>;
  readonly #waiting = new Set<Waiter>();
  readonly #memory: Semaphore;
  #closed = false;

  constructor(limits: SlotLimits, octets = Number.POSITIVE_INFINITY) {
    this.#slots = new FairSlots(limits);
    this.#memory = new Semaphore(octets);
  }

  /** True once it starts nothing any more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Does the work at the key's turn; null when that never comes, or the signal fires before. */
  async take<Result>(
    key: string,
    work: () => Promise<Result>,
    { signal, octets = 0 }: WorkOptions = {},
  ): Promise<Result | null> {
    if (!(await this.#granted(key, octets, signal))) return null;
    try {
      return await work();
    } finally {
      this.#slots.finish(key);
      this.#memory.release(octets);
      this.#startNext();
    }
  }

  /** Starts nothing from now on, and ends what waits. */
  close(): void {
    this.#closed = true;
    for (const { answer } of this.#waiting) answer(false);
    this.#waiting.clear();
  }

  #granted(key: string, octets: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (granted: boolean) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(granted);
      };
      const waiter: Waiter = { octets, answer };
      const giveUp = () => {
        this.#slots.withdraw(key, waiter);
        this.#waiting.delete(waiter);
        resolve(false);
        // It may have been the next one, and others fit.
        this.#startNext();
      };
      if (this.#closed || signal?.aborted || !this.#slots.offer(key, waiter)) return resolve(false);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#closed) return;
    const fits = ({ octets }: Waiter): boolean => this.#memory.tryTake(octets);
    for (let next = this.#slots.start(fits); next; next = this.#slots.start(fits)) {
      this.#waiting.delete(next.work);
      next.work.answer(true);
    }
  }
}
