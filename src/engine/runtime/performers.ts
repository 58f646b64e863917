import { Semaphore } from '../../platform/async/semaphore.ts';
import type { Order } from '../machine/draft.ts';
import type { ActorEvent } from '../machine/kind.ts';
import type { EventResult } from '../machine/result.ts';
import { TimelyRoom } from './timely-room.ts';
import type { SelectionTeller } from './timers/tell-where.ts';

/** Tells the actor of an order something while the order is carried out. @throws UnavailableError */
export type TellActor = (event: ActorEvent) => Promise<EventResult>;

/**
 * Does the I/O of one kind's orders and answers the outcome as events for the same actor. It writes no table.
 * Must have answered before the lease in the actor's context ends; what it throws is logged, and the lease
 * decides.
 */
export interface Performer {
  /** Orders that may run at once; those beyond it wait in memory, bounded by `backlog`. */
  readonly slots: number;
  readonly backlog: number;
  perform(order: Order, tell: TellActor): Promise<readonly ActorEvent[]> | readonly ActorEvent[];
  /**
   * Called once, before its first order, for a performer that sends events to other actors than those of its
   * orders.
   */
  attached?(engine: SelectionTeller): void;
  /** The number of waiting actors (`Kind.offers`) that it could take now. */
  room?(): number;
  /** The same for bulk actors (`Offers.bulk`). */
  bulkRoom?(): number;
  /**
   * The events for the actor of an order that will not be begun; without this, the actor waits for its lease
   * to end. `isStopping`: by this process; else there is no place for the order.
   */
  declined?(order: Order, isStopping: boolean): readonly ActorEvent[];
  /** The outcome of an order that took a while is durable now, or will not be reported. */
  settled?(order: Order): void;
  /** Nothing new is to begin; what runs should end soon. */
  stop?(): void;
  /** Nothing runs any more. */
  stopped?(): void;
}

/**
 * Due actors for which there is room on the slowest machine. To wake so many for nothing takes a tenth of a
 * second in fifteen.
 */
const LEAST_WOKEN = 256;

/** Runs orders of one kind within its slots. */
export class OrderRunner {
  readonly #slots: Semaphore;
  readonly #timely: TimelyRoom;

  constructor(
    private readonly performer: Performer,
    /** Resolves once the events are durable or given up; never rejects. */
    private readonly report: (order: Order, events: readonly ActorEvent[]) => Promise<unknown>,
    private readonly failed: (order: Order, error: unknown) => void,
    private readonly tell: (order: Order, event: ActorEvent) => Promise<EventResult>,
    /** An order has ended: there may be room where there was none. */
    private readonly ended: () => void = () => {},
    monotonic?: () => number,
  ) {
    this.#slots = new Semaphore(performer.slots, undefined, performer.backlog);
    const most = performer.slots + performer.backlog;
    this.#timely = new TimelyRoom({ least: Math.min(LEAST_WOKEN, most), most }, monotonic);
  }

  /** The number of further orders that would start, or wait, without being dropped. */
  get room(): number {
    return this.#slots.capacity;
  }

  /** The number of due actors whose orders would start in time. */
  get roomForDue(): number {
    return Math.min(this.room, this.#timely.size - this.#slots.taken - this.#slots.waiting);
  }

  /** The number of actors that offer themselves and would not be turned away. */
  get roomForOffers(): number {
    return Math.min(this.room, this.performer.room?.() ?? this.room);
  }

  /** The same for bulk actors. */
  get roomForBulk(): number {
    return Math.min(this.room, this.performer.bulkRoom?.() ?? this.room);
  }

  /** Starts the order, or lets it wait; beyond the backlog it is declined. */
  take(order: Order): void {
    const granted = this.#slots.take();
    if (granted === true) this.#start(order);
    else if (granted === false) this.decline(order, false);
    else void granted.then((isGranted) => (isGranted ? this.#start(order) : this.decline(order, true)));
  }

  /** Declines what waits, and resolves once no order runs. */
  async stopped(): Promise<void> {
    this.performer.stop?.();
    this.#slots.stop();
    await this.#slots.drained();
    this.performer.stopped?.();
  }

  /** Tells the actor that its order will not be begun. */
  decline(order: Order, isStopping: boolean): void {
    const events = this.performer.declined?.(order, isStopping) ?? [];
    if (events.length > 0) void this.report(order, events);
  }

  #start(order: Order): void {
    let outcome: ReturnType<Performer['perform']>;
    try {
      outcome = this.performer.perform(order, (event) => this.tell(order, event));
    } catch (error) {
      this.failed(order, error);
      return this.#slots.release();
    }
    if (!(outcome instanceof Promise)) {
      void this.report(order, outcome);
      return this.#slots.release();
    }
    void this.#conclude(order, outcome);
  }

  async #conclude(order: Order, outcome: Promise<readonly ActorEvent[]>): Promise<void> {
    let reported: Promise<unknown> | undefined;
    try {
      const events = await outcome;
      this.#timely.ended(events.length === 0);
      reported = this.report(order, events);
    } catch (error) {
      this.failed(order, error);
    }
    this.#slots.release();
    await reported;
    this.performer.settled?.(order);
    this.ended();
  }
}
