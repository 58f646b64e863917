import type { Order } from '../../../engine/machine/draft.ts';
import { orderOf, type TransportOrder } from '../../../mail/transport/order.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import { RecentCount } from '../../../platform/async/recent-count.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import type { LiveParts } from '../send/parts.ts';
import { BulkHeap } from './bulk-heap.ts';
import { BulkPace } from './bulk-pace.ts';

/**
 * Emails of campaigns that may be here, and what may be here in any case, in slots: more of them are given
 * out only as these leave. No more than leave in a second, since one that waits longer offers itself again,
 * and is claimed and read for nothing (measured: half of what a campaign cost PostgreSQL).
 */
const MOST_BULK = 2_048;
const LEAST_BULK = 2;

/** The emails of campaigns that are here: their slots, and how many more campaigns may give out. */
export class BulkSupply {
  /** Slots for campaigns alone: whatever a campaign sends, a password reset does not wait behind it. */
  readonly #slots = new Map<Transport['name'], Semaphore>();
  readonly #ended: RecentCount;
  readonly #pace: BulkPace;
  /** The orders that are not in the queue for a slot yet. Accepting further ones counts them. */
  readonly #coming = new Set<Order>();
  /** The domains of those that are here. */
  readonly #domains = new Map<Order, string>();
  #stopping = false;

  constructor(
    private readonly parts: Pick<
      LiveParts,
      'enabled' | 'limits' | 'clock' | 'senders' | 'transport' | 'warmUps' | 'bulkWriter'
    >,
    private readonly order: Pick<TransportOrder, 'isDown'>,
  ) {
    const { enabled, limits, clock } = parts;
    for (const name of enabled)
      this.#slots.set(name, new Semaphore(limits.bulkSlots, clock.monotonic, 2 * MOST_BULK));
    this.#ended = new RecentCount(clock.monotonic);
    const slots = [...this.#slots.values()];
    this.#pace = new BulkPace(slots, limits.bulkSlots, clock.monotonic, new BulkHeap());
  }

  /**
   * The number of emails of campaigns that may be given out, of which a part is kept back until there is room
   * for many: one statement writes a hundred in little more time than one. Half of the places in the line
   * stay free for those that others have given out.
   */
  get room(): number {
    if (this.#stopping) return 0;
    const { bulkSlots } = this.parts.limits;
    const most = Math.min(MOST_BULK, Math.max(LEAST_BULK * bulkSlots, this.#ended.perSecond));
    const room = most - this.#here;
    return room >= most / 2 ? room : 0;
  }

  /**
   * About how many recipients of campaigns from a domain have room in its warm-up on this day; null without a
   * limit. Those that are here already have their part of it. @throws UnavailableError
   */
  async warmUpRoom(domainId: string): Promise<number | null> {
    const sender = await this.parts.senders.find(domainId);
    if (typeof sender === 'string') return null;
    const { name: first } = this.parts.transport(sender.provider);
    // While the first one is down, the next is where they go.
    const name = orderOf(first, sender.fallbacks).find((one) => !this.order.isDown(one)) ?? first;
    const warmUp = sender.warmUps.find(({ provider }) => provider === name);
    const room = warmUp ? await this.parts.warmUps.roomOf({ domainId, warmUp, isBulk: true }) : null;
    if (room === null) return null;
    const here = this.#domains.values().reduce((sum, domain) => sum + (domain === domainId ? 1 : 0), 0);
    return Math.max(0, room - here);
  }

  get #here(): number {
    return this.#coming.size + Math.max(...this.#slots.values().map(({ taken, waiting }) => taken + waiting));
  }

  slotsOf(name: Transport['name']): Semaphore | undefined {
    return this.#slots.get(name);
  }

  /** Other mail has come, which is not to wait for campaigns. */
  otherCame(): void {
    this.#pace.otherCame();
    this.parts.bulkWriter.otherCame();
  }

  /** An order of a campaign has come, of that domain where it is known yet. */
  come(order: Order, domainId: string | null): void {
    this.#coming.add(order);
    this.#domains.set(order, domainId ?? '');
  }

  /** An order, which is of that domain, asks for a slot now. */
  lineUp(order: Order, domainId: string | null): void {
    this.#domains.set(order, domainId ?? '');
    this.#pace.begin();
    this.#coming.delete(order);
  }

  /** Notes the end of an order, whatever its outcome. */
  leave(order: Order): void {
    this.#coming.delete(order);
    this.#domains.delete(order);
  }

  /** Notes a slot that was given back, where it is one of campaigns. */
  released(slots: Semaphore): void {
    if ([...this.#slots.values()].includes(slots)) this.#ended.note();
  }

  /** Admits no further orders. */
  stop(): void {
    this.#stopping = true;
    this.#pace.stop();
    for (const slots of this.#slots.values()) slots.stop();
  }
}
