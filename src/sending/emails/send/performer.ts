import type { EmailContext, EmailEvent } from '../../../../machines/email/context.ts';
import { mayBeTried } from '../../../../machines/email/progress.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { TellActor } from '../../../engine/runtime/performers.ts';
import { TransportOrder } from '../../../mail/transport/order.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import { rarely } from '../../../platform/telemetry/rarely.ts';
import { LargeGarbage } from '../../../platform/threads/large-garbage.ts';
import { BulkSupply } from '../bulk/bulk-supply.ts';
import type { CampaignSendState } from '../campaign-mail.ts';
import type { LeftMessage } from '../raw/left-message.ts';
import type { SenderProblem } from '../transports/senders.ts';
import { LiveAttempt } from './attempt.ts';
import { COPIES_AT_ONCE, Delivery } from './delivery.ts';
import type { Sender } from './message.ts';
import type { LiveParts } from './parts.ts';
import { type LoadedMessage, prepare } from './prepare.ts';
import type { LiveMessage, Routing } from './reader.ts';

/**
 * Orders of one transport that are claimed to wait in memory for a slot: enough to fill every slot several
 * times until more are claimed. Orders that wait are not in doubt. Those that wait in the database instead
 * can be taken by another instance too.
 */
const MOST_CLAIMED = 256;
/**
 * New emails that may wait beyond those, without their messages. They offer themselves only after a second;
 * turned away in a burst, they would leave every session idle until then (measured: half the rate). Another
 * instance may take them then as well.
 */
const MOST_NEW = 4_096;
const MOST_WAITING = MOST_CLAIMED + MOST_NEW;
/**
 * Once the next order has waited so long, no more are claimed: they would wait longer still, and every claim
 * keeps an email from the other instances for seconds. Beside an instance whose sessions all hang, another
 * took 50 s for 190 emails.
 */
const WAITED_ENOUGH_MS = 1_000;
/** Sends live mail: one copy for each recipient, so that each can be tracked, and can bounce, by itself. */
export class LivePerformer {
  /** Each transport has separate slots, so that a stuck one does not delay the others. */
  readonly #slots = new Map<Transport['name'], Semaphore>();
  readonly #bulk: BulkSupply;
  readonly #delivery: Delivery;
  /** The octets of large messages that may be in memory. */
  readonly #memory: Semaphore;
  /** The order of each email until its outcome is durable: a waiting email offers itself again and again. */
  readonly #held = new Map<string, Order>();
  /**
   * The slots that orders hold until their outcome is durable, so that a crash leaves no more in doubt than
   * there are slots.
   */
  readonly #begun = new Map<Order, Semaphore>();
  /** The transports of each email in their order. */
  readonly #order: TransportOrder;
  readonly #stop = new AbortController();
  #stopTimer: Timer | undefined;
  /** Limits warnings: a fault that stops one attempt usually stops all of them, every second. */
  readonly #warn: ReturnType<typeof rarely>;
  #stopping = false;

  constructor(
    private readonly parts: LiveParts,
    private readonly garbage: Pick<LargeGarbage, 'add'> = new LargeGarbage(),
  ) {
    this.#warn = rarely(parts.logger, parts.clock.monotonic);
    const { enabled, limits, clock } = parts;
    for (const name of enabled)
      this.#slots.set(name, new Semaphore(limits.slots, clock.monotonic, MOST_WAITING));
    this.#order = new TransportOrder(parts.transport, clock.monotonic);
    this.#bulk = new BulkSupply(parts, this.#order);
    this.#delivery = new Delivery(parts, this.#order, this.#stop.signal, this.#warn);
    this.#memory = new Semaphore(limits.octets, clock.monotonic, MOST_WAITING);
  }

  /** Writes messages that are shown or returned to others than their recipients: their links lead nowhere. */
  get writing(): Pick<LiveParts, 'reader' | 'senders' | 'personalise'> {
    const { reader, senders, powerless } = this.parts;
    return { reader, senders, personalise: powerless };
  }

  /** Makes the message of an email again. */
  get leftMessage(): LeftMessage {
    return this.parts.leftMessage;
  }

  /** The number of orders that may be claimed: each would get a slot, or wait for one among few. */
  get room(): number {
    return this.#slots
      .values()
      .filter(({ waitedMs }) => waitedMs < WAITED_ENOUGH_MS)
      .reduce((sum, { capacity }) => sum + Math.max(0, capacity - MOST_NEW), 0);
  }

  /**
   * The number of emails of campaigns that may be given out or claimed: each would get a slot within about a
   * second.
   */
  get bulkRoom(): number {
    return this.#bulk.room;
  }

  /**
   * Carries out one attempt. Answers no event when none was begun: the email stays `queued`, and offers
   * itself again.
   */
  perform(order: Order, tell: TellActor): Promise<readonly EmailEvent[]> | readonly EmailEvent[] {
    const { id } = order.actor;
    if (this.#held.has(id)) return [];
    this.#held.set(id, order);
    const known = order.payload as LiveMessage | undefined;
    if (order.isBulk || known?.campaign_id) this.#bulk.come(order, known?.domain_id ?? null);
    else this.#bulk.otherCame();
    return this.#perform(order, tell).finally(() => this.#bulk.leave(order));
  }

  async #perform(order: Order, tell: TellActor): Promise<readonly EmailEvent[]> {
    const { actor } = order;
    const context = actor.snapshot.context as EmailContext;
    const { clock, limits } = this.parts;
    const unprepared = (error: unknown) => {
      this.#warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return null;
    };
    const routing =
      (order.payload as LiveMessage | undefined) ??
      (await this.parts.reader.routingOf(actor).catch(unprepared));
    const name = await this.#transportOf(routing).catch(unprepared);
    const isBulk = (routing?.campaign_id ?? null) !== null;
    if (isBulk) order.isBulk = true;
    const slots = name && (isBulk ? this.#bulk.slotsOf(name) : this.#slots.get(name));
    if (!slots) return [];
    // A thousand emails of a paused campaign offer themselves again and again: they must take no slots from
    // another one's.
    const before = await this.#delivery.standing(routing);
    if (before === 'held') return [];
    if (isWithdrawn(before, context)) return withdrawn(clock.now());
    if (!isBulk && slots.capacity <= MOST_NEW) order.payload = undefined;
    if (isBulk) this.#bulk.lineUp(order, routing?.domain_id ?? null);
    if (!(await slots.take())) return [];
    this.#begun.set(order, slots);
    // The wait for a slot may have been long.
    const standing = await this.#delivery.standing(routing);
    if (standing === 'held') return [];
    if (isWithdrawn(standing, context)) return withdrawn(clock.now());
    const found = await this.#find(order).catch(unprepared);
    const octets = octetsOf(found?.message ?? null, context);
    if (!found || !(await this.#takeMemory(order, slots, octets))) return [];
    let loaded = 0;
    try {
      const preparedAt = clock.monotonic();
      const prepared = await prepare(this.parts, actor, found.message, standing).catch(unprepared);
      if (prepared?.message) loaded = octets;
      // The domain may have changed its transport meanwhile: then the email offers itself again, for a slot
      // of that one.
      if (!prepared || this.#transportNameOf(prepared.sender) !== name) return [];
      const attempt = new LiveAttempt(context, {
        clock,
        tell,
        endsAfterMs: (leaseMs) => leaseMs - limits.marginMs,
        isStopping: () => this.#stopping,
        preparedAt,
      });
      const events = await this.#delivery.attempt(actor, prepared, attempt);
      return await attempt.eventsWith(() => events);
    } finally {
      this.#memory.release(octets);
      this.garbage.add(loaded);
    }
  }

  /** The message, a large one without its content. A message that came with the order is not read again. */
  async #find({ actor, payload }: Order): Promise<{ readonly message: LoadedMessage | null }> {
    return { message: (payload as LiveMessage | undefined) ?? (await this.parts.reader.message(actor)) };
  }

  /** Takes memory for a large message. An attempt that has to wait for it gives its slot to another. */
  async #takeMemory(order: Order, slots: Semaphore, octets: number): Promise<boolean> {
    if (octets === 0 || this.#memory.tryTake(octets)) return true;
    this.#giveUpSlot(order);
    if (!(await this.#memory.take(octets))) return false;
    if (await slots.take()) {
      this.#begun.set(order, slots);
      return true;
    }
    this.#memory.release(octets);
    return false;
  }

  /** The transport whose slot an email needs; found before its message, which may be large, is read. */
  async #transportOf(routing: Routing | null): Promise<Transport['name']> {
    const { enabled, senders } = this.parts;
    if (enabled.length === 1) return enabled[0];
    return this.#transportNameOf(routing === null ? 'removed' : await senders.ofEmail(routing));
  }

  /** An email that cannot leave takes a slot of the default transport. */
  #transportNameOf(sender: Sender | SenderProblem): Transport['name'] {
    return (typeof sender === 'string' ? null : sender.provider) ?? this.parts.enabled[0];
  }

  /** The transports that others follow, with the state of each. */
  get transportStates(): TransportOrder['states'] {
    return this.#order.states;
  }

  /** The number of warm-ups without room left today, as far as this instance knows. */
  get warmUpsUsedUp(): number {
    return this.parts.warmUps.usedUp;
  }

  /**
   * About how many recipients of campaigns from a domain have room in its warm-up on this day; null without a
   * limit. @throws UnavailableError
   */
  warmUpRoom(domainId: string): Promise<number | null> {
    return this.#bulk.warmUpRoom(domainId);
  }

  /** Gives back what it has claimed and not used. */
  close(): Promise<void> {
    return this.parts.warmUps.close();
  }

  /** Frees the slot of an order whose outcome is durable, and lets its email come again. */
  settled(order: Order): void {
    if (this.#held.get(order.actor.id) === order) this.#held.delete(order.actor.id);
    this.#giveUpSlot(order);
  }

  #giveUpSlot(order: Order): void {
    const slots = this.#begun.get(order);
    if (!slots) return;
    this.#begun.delete(order);
    slots.release();
    this.#bulk.released(slots);
  }

  /** Forgets cached senders, because a domain has changed. */
  domainsChanged(): void {
    this.parts.senders.forget();
  }

  /** Begins no more attempts; those under way have `stopMs` to end by themselves. */
  stop(): void {
    this.#stopping = true;
    this.#bulk.stop();
    for (const semaphore of [this.#memory, ...this.#slots.values()]) semaphore.stop();
    this.#stopTimer = setTimeout(() => this.#stop.abort(), this.parts.limits.stopMs);
  }

  /** Ends the stop: no attempt is under way any more. */
  stopped(): void {
    clearTimeout(this.#stopTimer);
    this.parts.bulkWriter.close();
    this.parts.signing.close();
  }
}

/**
 * True for what a campaign that has ended takes back. Whether an attempt has begun elsewhere meanwhile is for
 * the machine to say.
 */
const isWithdrawn = (standing: CampaignSendState, { attempt }: EmailContext): boolean =>
  standing === 'ended' && attempt === 0;

const withdrawn = (at: number): readonly EmailEvent[] => [{ type: 'campaign.ended', at }];

/** The memory of a large message: itself, and its copies that are sent at once. 0 for any other. */
const octetsOf = (message: LoadedMessage | null, { recipients, holdsDoubt }: EmailContext): number => {
  if (message === null || message.content !== null) return 0;
  const open = recipients.filter((one) => mayBeTried(one, holdsDoubt)).length;
  return message.size * (1 + Math.min(open, COPIES_AT_ONCE));
};
