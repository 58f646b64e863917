import { areAbout } from '../../../engine/runtime/bulk-lane.ts';
import type { Semaphore } from '../../../platform/async/semaphore.ts';
import type { BulkHeap } from './bulk-heap.ts';

/**
 * Without other mail so many times as many as there are slots: one part of them is read and rendered, another
 * one written by the threads, and a third one committed, so that no side waits for another.
 */
const TIMES_ALONE = 2;
/** Between two looks at the event loop. */
const TICK_MS = 20;
/** Looks that are judged together. */
const TICKS = 5;
/**
 * A loop that comes later than this keeps other mail waiting: an email passes it some eight times from its
 * request to the server.
 */
const LATE_MS = 8;
/**
 * The number of emails under way beside other mail at the start, and at least: they take each step together,
 * and share its statement. One by one, or in twos as they were when a busy machine made the loop late, an
 * email took five statements and twice the processor time (measured: 3.8 ms, now 2.1), which made the loop
 * later still.
 */
const LEAST = 32;
/** Stretches between two looks at the heap. */
const HEAP_STRETCHES = 5;
/** The share of the slots that stays after a slow period. */
const LEFT = 0.7;

/**
 * Sets how many emails of campaigns are under way. While other mail is about, by how late the event loop
 * comes: with as many as there are slots, a password reset beside a campaign waited 130 ms for its turns
 * where a free machine gave it 8 (`bun run bench --only campaign-latency`). Where servers are slow the loop
 * is not, and every slot is used. The loop of a fast campaign is always late, so that without other mail this
 * says nothing. It looks only while something is under way.
 */
export class BulkPace {
  #timer: ReturnType<typeof setInterval> | undefined;
  #units: number;
  #last = 0;
  #worst = 0;
  #ticks = 0;
  #stretches = 0;
  #isLate = false;
  #othersAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly slots: readonly Semaphore[],
    private readonly most: number,
    private readonly monotonic: () => number,
    /** Is looked at twice a second. */
    private readonly heap: Pick<BulkHeap, 'look'>,
  ) {
    this.#units = most;
  }

  /** Notes that an email of a campaign is about to take a slot. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#last = this.monotonic();
    this.#resize(this.#areOthersAbout ? this.#least : TIMES_ALONE * this.most);
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /**
   * Notes that other mail has come. The first of it leaves campaigns their slots, and beside a late loop as
   * few as may be.
   */
  otherCame(): void {
    if (!this.#areOthersAbout) this.#resize(this.#isLate ? this.#least : this.most);
    this.#othersAt = this.monotonic();
  }

  get #areOthersAbout(): boolean {
    return areAbout(this.monotonic() - this.#othersAt);
  }

  get #least(): number {
    return Math.min(LEAST, this.most);
  }

  /** Looks once; the timer calls it. */
  tick(): void {
    const now = this.monotonic();
    this.#worst = Math.max(this.#worst, now - this.#last - TICK_MS);
    this.#last = now;
    if (++this.#ticks < TICKS) return;
    this.#isLate = this.#worst > LATE_MS;
    this.#ticks = 0;
    this.#worst = 0;
    this.#resize(this.#areOthersAbout ? this.#besideOthers() : TIMES_ALONE * this.most);
    this.#lookAtHeap();
    if (this.slots.every(({ idle }) => idle)) this.stop();
  }

  #besideOthers(): number {
    return this.#isLate
      ? Math.max(this.#least, Math.floor(this.#units * LEFT))
      : Math.min(this.most, this.#units + Math.max(1, this.#units >> 3));
  }

  #lookAtHeap(): void {
    if (++this.#stretches < HEAP_STRETCHES) return;
    this.#stretches = 0;
    this.heap.look(this.#areOthersAbout);
    // The time of the garbage collector is no sign of a busy loop.
    this.#last = this.monotonic();
  }

  #resize(units: number): void {
    this.#units = units;
    for (const each of this.slots) each.resize(units);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
