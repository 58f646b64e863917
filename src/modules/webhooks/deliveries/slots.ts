/** How much may run and wait at once. */
export interface SlotLimits {
  /** Running, over all keys. */
  readonly total: number;
  /** Running, for one key. */
  readonly perKey: number;
  /** Waiting, over all keys. */
  readonly backlog: number;
}

/**
 * One key may run an eighth of the slots that are free. The more is taken the less a key may take, so however many keys
 * cling to their slots, some stay free for the next newcomer; a fixed cap would have to be tiny for that.
 */
const FREE_SHARE = 8;

interface Lane<T> {
  running: number;
  readonly waiting: T[];
}

/**
 * Decides what runs next when each piece of work belongs to a key and some keys are slow. The key with the least under way
 * goes first, equals take turns, and one key's work keeps its order. Pure: it starts nothing itself.
 */
export class Slots<T> {
  readonly #lanes = new Map<string, Lane<T>>();
  /** Keys with work waiting, by how much of theirs runs; in a level, the one that has waited longest comes first. */
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

  /** Lets work wait for its turn; false, and nothing kept, when its key has as many places as are left for others. */
  offer(key: string, work: T): boolean {
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: [] };
    if (lane.waiting.length >= this.limits.backlog - this.#waiting) return false;
    this.#lanes.set(key, lane);
    lane.waiting.push(work);
    this.#waiting += 1;
    if (lane.waiting.length === 1) this.#level(lane.running).add(key);
    return true;
  }

  /** Takes a slot for the work whose turn it is; undefined when nothing may start now. */
  start(): { readonly key: string; readonly work: T } | undefined {
    const share = Math.ceil((this.limits.total - this.#running) / FREE_SHARE);
    const ceiling = Math.min(this.limits.perKey, share);
    for (let running = 0; running < ceiling; running += 1)
      for (const key of this.#level(running)) return { key, work: this.#begin(key) };
    return undefined;
  }

  /** Gives the slot of a key back. */
  finish(key: string): void {
    const lane = this.#laneOf(key);
    this.#leave(key, lane);
    lane.running -= 1;
    this.#running -= 1;
    this.#enter(key, lane);
  }

  /** Drops what waits for a key, and answers it; what runs goes on. */
  forget(key: string): readonly T[] {
    const lane = this.#lanes.get(key);
    if (!lane) return [];
    this.#leave(key, lane);
    const dropped = lane.waiting.splice(0);
    this.#waiting -= dropped.length;
    this.#enter(key, lane);
    return dropped;
  }

  #begin(key: string): T {
    const lane = this.#laneOf(key);
    this.#leave(key, lane);
    const work = lane.waiting.shift() as T;
    lane.running += 1;
    this.#running += 1;
    this.#waiting -= 1;
    this.#enter(key, lane);
    return work;
  }

  #laneOf(key: string): Lane<T> {
    const lane = this.#lanes.get(key);
    if (!lane) throw new Error('Nothing of this key runs.');
    return lane;
  }

  #leave(key: string, lane: Lane<T>): void {
    this.#level(lane.running).delete(key);
  }

  #enter(key: string, lane: Lane<T>): void {
    if (lane.waiting.length > 0) this.#level(lane.running).add(key);
    else if (lane.running === 0) this.#lanes.delete(key);
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
