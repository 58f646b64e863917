import { Batcher, GATHERED } from '../../platform/async/batcher.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { PendingEvent } from '../machine/fold.ts';
import { BulkLane } from './bulk-lane.ts';

/** Commits of selected actors at once: one is decided while PostgreSQL works on the other. */
export const SELECTED_WIDTH = 2;

/**
 * Written apart, a crash in between would keep only the first part: an email that was sent and never reported
 * as delivered.
 */
const isOfOneReport = (before: PendingEvent, pending: PendingEvent): boolean =>
  pending.report !== undefined && pending.report === before.report;

const waitingIn = (lanes: readonly Batcher<PendingEvent>[]): number =>
  lanes.reduce((sum, { waiting }) => sum + waiting, 0);

/** The clock of the lanes, and in how many events keep their order. */
interface LaneOptions {
  readonly monotonic: () => number;
  readonly width: number;
}

type Work = (batch: readonly PendingEvent[], lane: Batcher<PendingEvent>) => Promise<void>;

/** The lanes in which events of one kind wait for their commits. */
export class MailboxLanes {
  /** Events that callers wait for; those of one actor are in one of these lanes, and stay in their order. */
  readonly #ordered: readonly Batcher<PendingEvent>[];
  /**
   * Events that hold for one revision only: they need no order among the others, and keep none of them
   * waiting.
   */
  readonly #selected: Batcher<PendingEvent>;
  /** Events that no caller waits for; each goes out after the previous one is durable. */
  readonly #bulk: Batcher<PendingEvent>;
  /** The monotonic moment of the last event with a waiting caller. */
  #othersAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly name: string,
    work: Work,
    { monotonic, width }: LaneOptions,
  ) {
    const limits = GATHERED;
    this.#ordered = Array.from({ length: width }, () => {
      const lane: Batcher<PendingEvent> = new Batcher(
        name,
        (batch) => work(batch, lane),
        limits,
        1,
        isOfOneReport,
      );
      return lane;
    });
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

  /** @throws UnavailableError when its lane is full; patient events are taken even then. */
  push(pending: PendingEvent): void {
    if (pending.read) return this.#selected.push(pending);
    if (!pending.isBulk) this.#othersAt = pending.since;
    const lane = pending.isBulk ? this.#bulk : this.#laneOf(pending);
    if (pending.patientUntil !== undefined) return lane.admit(pending);
    // The lanes share the bound of one, whichever actors are asked for.
    if (!pending.isBulk && waitingIn(this.#ordered) >= GATHERED.waitingItems)
      throw new UnavailableError(`The ${this.name} queue is full.`);
    lane.push(pending);
  }

  /** Puts events first that a batch hands back: each in the lane of its actor, wherever it came from. */
  unshift(events: readonly PendingEvent[], restMs = 0): void {
    for (const [lane, own] of Map.groupBy(events, (pending) => this.#laneOf(pending)))
      lane.unshift(own, restMs);
  }

  get waiting(): number {
    return waitingIn([...this.#ordered, this.#selected, this.#bulk]);
  }

  /** Ids end at random. */
  #laneOf({ id }: PendingEvent): Batcher<PendingEvent> {
    const place = id.charCodeAt(id.length - 1) % this.#ordered.length;
    return this.#ordered[place] as Batcher<PendingEvent>;
  }

  async drained(): Promise<void> {
    // Selected and bulk events that are tried again join the others.
    await this.#selected.drained();
    await this.#bulk.drained();
    for (const lane of this.#ordered) await lane.drained();
  }
}
