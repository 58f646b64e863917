import { Batcher, GATHERED } from '../async/batcher.ts';
import { BulkLane } from './bulk-lane.ts';
import type { PendingEvent } from './fold.ts';

/** Commits of selected actors at once: one is decided while PostgreSQL works on the other. */
export const SELECTED_WIDTH = 2;

/** Written apart, a crash in between would keep the first part: an email that was sent and is never told to be delivered. */
const isOfOneReport = (before: PendingEvent, pending: PendingEvent): boolean =>
  pending.report !== undefined && pending.report === before.report;

type Work = (batch: readonly PendingEvent[], lane: Batcher<PendingEvent>) => Promise<void>;

/** The lanes in which events of one kind wait for their commits. */
export class MailboxLanes {
  /** Events that somebody waits for; those of one actor stay in their order. */
  readonly ordered: Batcher<PendingEvent>;
  /** Events that hold for one revision only: they need no order among the others, and keep none of them waiting. */
  readonly #selected: Batcher<PendingEvent>;
  /** Events that nobody waits for, each told after the one before it is durable. */
  readonly #bulk: Batcher<PendingEvent>;
  /** Monotonic moment of the last event that somebody waits for. */
  #othersAt = Number.NEGATIVE_INFINITY;

  constructor(name: string, work: Work, monotonic: () => number) {
    const limits = GATHERED;
    this.ordered = new Batcher(name, (batch) => work(batch, this.ordered), limits, 1, isOfOneReport);
    this.#selected = new Batcher(
      `selected ${name}`,
      (batch) => work(batch, this.#selected),
      limits,
      SELECTED_WIDTH,
    );
    this.#bulk = new BulkLane(
      `bulk ${name}`,
      (batch) => work(batch, this.#bulk),
      monotonic,
      () => this.#othersAt,
      isOfOneReport,
    );
  }

  /** @throws Unavailable when its lane is full; patient events are taken even then. */
  push(pending: PendingEvent): void {
    if (pending.read) return this.#selected.push(pending);
    if (!pending.isBulk) this.#othersAt = pending.since;
    const lane = pending.isBulk ? this.#bulk : this.ordered;
    if (pending.patientUntil === undefined) lane.push(pending);
    else lane.admit(pending);
  }

  get waiting(): number {
    return this.ordered.waiting + this.#selected.waiting + this.#bulk.waiting;
  }

  async drained(): Promise<void> {
    // What is selected or bulk and tried again joins the others.
    await this.#selected.drained();
    await this.#bulk.drained();
    await this.ordered.drained();
  }
}
