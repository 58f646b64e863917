import { UnavailableError } from '../errors/unavailable.ts';
import { Gathering } from './gathering.ts';

/** The bounds of a batcher. */
export interface BatchLimits {
  /** The most items of a batch. */
  readonly batchItems: number;
  /** The most bytes of a batch; a larger item goes alone. */
  readonly batchBytes: number;
  /** The most items that may wait; one more is refused. */
  readonly waitingItems: number;
  /** The most bytes that may wait; more are refused. */
  readonly waitingBytes: number;
  /** True when a batch waits for more where many are inside (gathering.ts); otherwise it leaves at once. */
  readonly gathers?: boolean;
  /**
   * True when, with two batches under way at most, half of the items inside leave at once: for requests of
   * clients that wait, and ask again.
   */
  readonly halves?: boolean;
}

/**
 * The usual bounds: a commit of more than 500 items or 1 MB gains nothing (measured), and waiting items stay
 * below 64 MB.
 */
export const COMMIT_LIMITS: BatchLimits = {
  batchItems: 500,
  batchBytes: 1_048_576,
  waitingItems: 20_000,
  waitingBytes: 67_108_864,
};

/** Those of writes that cost as much by the commit as by its items. */
export const GATHERED: BatchLimits = { ...COMMIT_LIMITS, gathers: true };

/**
 * The limits for requests that clients make one by one. A commit's items would be cut at the wrong places.
 */
export const HALVED: BatchLimits = { ...GATHERED, halves: true };

/** The number of items by which batches grow again after one was too large: to 500 within fifty batches. */
const GROWTH = 10;

/**
 * An ordered, bounded queue in front of something that is cheaper by the batch. A batch leaves the moment the
 * previous one has returned: one item when idle, hundreds under load; where it gathers, a moment later when
 * many are inside, and half of them at once where it halves.
 */
export class Batcher<T> {
  #waiting: { readonly item: T; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #running = 0;
  #resting = 0;
  #starting = false;
  #underWay = 0;
  readonly #gathering: Gathering | null;
  /** Ends the time for which a batch waits for more. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  #idle: (() => void)[] = [];
  /** The most items of a batch at present. */
  #batchItems: number;
  #hasEased = false;

  constructor(
    private readonly name: string,
    /** Settles every item of the batch itself; never rejects. */
    private readonly work: (batch: readonly T[]) => Promise<void>,
    private readonly limits: BatchLimits = COMMIT_LIMITS,
    /** The most batches that may be under way at once. */
    private readonly width = 1,
    /** True when an item must be in the same batch as the previous one. */
    private readonly isOneWith: (before: T, item: T) => boolean = () => false,
    /** The pause after each batch, in milliseconds. */
    private readonly restMs: () => number = () => 0,
  ) {
    this.#batchItems = limits.batchItems;
    this.#gathering = limits.gathers ? new Gathering() : null;
  }

  /** Queues an item. @throws UnavailableError when the queue is full. */
  push(item: T, bytes = 256): void {
    if (
      this.#waiting.length >= this.limits.waitingItems ||
      this.#waitingBytes + bytes > this.limits.waitingBytes
    )
      throw new UnavailableError(`The ${this.name} queue is full.`);
    this.admit(item, bytes);
  }

  /**
   * Queues items that are in one batch, as `isOneWith` says: none leaves before the last one is here. @throws
   * UnavailableError when the queue is full.
   */
  pushTogether(items: readonly T[], bytes = 256): void {
    const length = this.#waiting.length + items.length;
    if (
      length > this.limits.waitingItems ||
      this.#waitingBytes + items.length * bytes > this.limits.waitingBytes
    )
      throw new UnavailableError(`The ${this.name} queue is full.`);
    for (const item of items) this.#waiting.push({ item, bytes });
    this.#waitingBytes += items.length * bytes;
    this.#start();
  }

  /** Queues an item regardless of the limits, for items that something else bounds. */
  admit(item: T, bytes = 256): void {
    this.#waiting.push({ item, bytes });
    this.#waitingBytes += bytes;
    if (this.#isHalf()) this.#leave();
    else this.#start();
  }

  /**
   * True where two batches take turns, and what waits is one of them: it need not wait for those that are
   * still being read.
   */
  #isHalf(): boolean {
    if (!this.limits.halves || this.#resting > 0 || this.#running >= this.width) return false;
    const { length } = this.#waiting;
    return length >= this.#batchItems || this.#gathering?.isHalf(length, this.#underWay) === true;
  }

  /**
   * Queues items that a batch hands back. They are never refused, since they were admitted before. With a
   * rest, no batch leaves before it is over, so that later items do not overtake them.
   */
  unshift(items: readonly T[], restMs = 0): void {
    this.#waiting = [...items.map((item) => ({ item, bytes: 0 })), ...this.#waiting];
    if (restMs === 0) return this.#start();
    this.#rest(restMs);
  }

  #rest(ms: number): void {
    this.#resting++;
    setTimeout(() => {
      this.#resting--;
      this.#start();
    }, ms);
  }

  /** Halves the next batch after one of that size took too long; later ones grow again. */
  ease(size: number): void {
    this.#batchItems = Math.max(1, size >> 1);
    this.#hasEased = true;
  }

  /** The number of waiting items. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves once nothing waits and nothing runs. */
  drained(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Starts a batch one turn of the event loop later, so that requests read in the same poll share it. */
  #start(): void {
    if (this.#starting || this.#resting > 0 || this.#running >= this.width) return;
    this.#starting = true;
    setImmediate(() => {
      this.#starting = false;
      this.#leaveOrGather();
    });
  }

  #leaveOrGather(): void {
    const isFull = this.#waiting.length >= this.#batchItems || this.#waitingBytes >= this.limits.batchBytes;
    const ms = this.#gathering?.patience(this.#waiting.length, this.#underWay) ?? 0;
    if (ms === 0 || isFull) this.#leave();
    else this.#patience ??= setTimeout(() => this.#leave(), ms);
  }

  #leave(): void {
    this.#endPatience();
    while (this.#resting === 0 && this.#running < this.width && this.#waiting.length > 0) {
      const batch = this.#take();
      this.#gathering?.left();
      this.#underWay += batch.length;
      this.#running++;
      const begin = performance.now();
      void this.work(batch).finally(() => {
        if (!this.#hasEased) this.#batchItems = Math.min(this.limits.batchItems, this.#batchItems + GROWTH);
        this.#hasEased = false;
        this.#running--;
        this.#underWay -= batch.length;
        this.#endPatience();
        this.#gathering?.returned(performance.now() - begin);
        const restMs = this.restMs();
        if (restMs > 0) this.#rest(restMs);
        else if (this.#waiting.length > 0) this.#leaveOrGather();
        if (this.#running === 0 && this.#waiting.length === 0)
          for (const resolve of this.#idle.splice(0)) resolve();
      });
    }
  }

  #endPatience(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  #take(): T[] {
    let bytes = 0;
    let count = 0;
    let last: T | undefined;
    for (const { item, bytes: more } of this.#waiting) {
      const isFull = count >= this.#batchItems || bytes + more > this.limits.batchBytes;
      if (last !== undefined && isFull && !this.isOneWith(last, item)) break;
      bytes += more;
      count++;
      last = item;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count).map(({ item }) => item);
  }
}

let nextTurn: Promise<void> | undefined;

/**
 * Resolves when everything else that is ready has had its turn. Those who ask in one turn wait for it
 * together.
 */
export function untilNextTurn(): Promise<void> {
  nextTurn ??= new Promise((resolve) =>
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    }),
  );
  return nextTurn;
}
