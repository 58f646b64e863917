import type { EmailContext, EmailEvent } from '../../../../machines/email-context.ts';
import { mayBeTried } from '../../../../machines/email-progress.ts';
import type { RecipientOutcome } from '../../../../machines/email-recipient.ts';
import { RecentCount } from '../../../async/recent-count.ts';
import { Semaphore } from '../../../async/semaphore.ts';
import type { Signer } from '../../../crypto/signer.ts';
import type { Order } from '../../../engine/draft.ts';
import type { Actor } from '../../../engine/kind.ts';
import type { TellActor } from '../../../engine/performers.ts';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { rarely } from '../../../telemetry/rarely.ts';
import type { Clock } from '../../../time/clock.ts';
import { NotBegun } from '../../../transport/begin.ts';
import { orderOf, TransportOrder } from '../../../transport/order.ts';
import { withoutReply } from '../../../transport/smtp/outcome.ts';
import type {
  EnabledTransports,
  OutboundMessage,
  SendLimits,
  Transport,
} from '../../../transport/transport.ts';
import type { CampaignMail, Standing } from '../campaign-mail.ts';
import { LiveAttempt } from './attempt.ts';
import { BulkPace } from './bulk-pace.ts';
import type { BulkWriter } from './bulk-writer.ts';
import type { LiveLimits } from './limits.ts';
import { offersExit, outboundMessage, type Personalise, type Sender } from './message.ts';
import { type AttemptResult, eventsOfAttempt, failureToMake, PRECHECK_FAILURES } from './outcome.ts';
import { type Found, type Prepared, prepare } from './prepare.ts';
import type { LiveMessage, LiveReader, Routing } from './reader.ts';
import { returnToken } from './return-token.ts';
import { laneOf, refusalOf, usedUp } from './room.ts';
import type { SenderProblem, Senders } from './senders.ts';
import type { Lane, Room, WarmUps } from './warm-ups.ts';

/** The services and limits that live mail is sent with. */
export interface LiveParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reader: LiveReader;
  readonly signer: Signer;
  readonly limits: LiveLimits;
  readonly senders: Senders;
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  readonly personalise: Personalise;
  /** Writes the copies of campaigns. */
  readonly bulkWriter: BulkWriter;
  /** How emails of campaigns are made. */
  readonly campaigns: () => CampaignMail | undefined;
  /** The transports that mail may leave by, the default one first. */
  readonly enabled: EnabledTransports;
  readonly warmUps: WarmUps;
}

/**
 * Orders of one transport that are claimed to wait in memory for a slot: enough to fill every slot several times until more are
 * claimed. Orders that wait are not in doubt. Those that wait in the database instead can be taken by another instance too.
 */
const MOST_CLAIMED = 256;
/**
 * New emails that may wait beyond those, without their messages. They offer themselves only after a second; turned away in a
 * burst, they would leave every session idle until then (measured: half the rate). Another instance may take them then as well.
 */
const MOST_NEW = 4_096;
const MOST_WAITING = MOST_CLAIMED + MOST_NEW;
/**
 * Once the next order has waited so long, no more are claimed: they would wait longer still, and every claim keeps an email from
 * the other instances for seconds. Beside an instance whose sessions all hang, another took 50 s for 190 emails.
 */
const WAITED_ENOUGH_MS = 1_000;
/**
 * Emails of campaigns that may be here, and what may be here in any case, in slots: more of them are given out only as these leave. No
 * more than leave in a second, since one that waits longer offers itself again, and is claimed and read for nothing (measured: half
 * of what a campaign cost PostgreSQL).
 */
const MOST_BULK = 2_048;
const LEAST_BULK = 2;

/** Copies of one email that are sent at once: each holds the whole message in memory. */
const COPIES_AT_ONCE = 4;

/** Sends live mail: one copy for each recipient, so that each can be tracked, and can bounce, by itself. */
export class LivePerformer {
  /** Each transport has slots of its own, so that a stuck one does not hold back the others. */
  readonly #slots = new Map<Transport['name'], Semaphore>();
  /** Slots for campaigns alone: whatever a campaign sends, a password reset does not wait behind it. */
  readonly #bulk = new Map<Transport['name'], Semaphore>();
  readonly #bulkEnded: RecentCount;
  readonly #bulkPace: BulkPace;
  /** The octets of large messages that may be in memory. */
  readonly #memory: Semaphore;
  /** The order of each email until its outcome is durable: a waiting email offers itself again and again. */
  readonly #held = new Map<string, Order>();
  /** The slots that orders hold until their outcome is durable, so that a crash leaves no more in doubt than there are slots. */
  readonly #begun = new Map<Order, Semaphore>();
  /** The transports of each email in their order. */
  readonly #order: TransportOrder;
  /** The orders of campaigns that are not in the line for a slot yet: whoever gives out further ones counts them. */
  readonly #coming = new Set<Order>();
  /** The domains of those of campaigns that are here. */
  readonly #domains = new Map<Order, string>();
  readonly #stop = new AbortController();
  #stopTimer: Timer | undefined;
  /** Limits warnings: a fault that stops one attempt usually stops all of them, every second. */
  readonly #warn: ReturnType<typeof rarely>;
  #stopping = false;

  constructor(private readonly parts: LiveParts) {
    this.#warn = rarely(parts.logger, parts.clock.monotonic);
    const { enabled, limits, clock } = parts;
    for (const name of enabled) {
      this.#slots.set(name, new Semaphore(limits.slots, clock.monotonic, MOST_WAITING));
      this.#bulk.set(name, new Semaphore(limits.bulkSlots, clock.monotonic, 2 * MOST_BULK));
    }
    this.#order = new TransportOrder(parts.transport, clock.monotonic);
    this.#bulkEnded = new RecentCount(clock.monotonic);
    this.#bulkPace = new BulkPace([...this.#bulk.values()], limits.bulkSlots, clock.monotonic);
    this.#memory = new Semaphore(limits.octets, clock.monotonic, MOST_WAITING);
  }

  /** The number of orders that may be claimed: each would get a slot, or wait for one among few. */
  get room(): number {
    return this.#slots
      .values()
      .filter(({ waitedMs }) => waitedMs < WAITED_ENOUGH_MS)
      .reduce((sum, { capacity }) => sum + Math.max(0, capacity - MOST_NEW), 0);
  }

  /**
   * The number of emails of campaigns that may be given out, of which a part is kept back until there is room for many: one statement
   * writes a hundred in little more time than one. Half of the places in the line stay free for those that others have given out.
   */
  get bulkRoom(): number {
    if (this.#stopping) return 0;
    const { bulkSlots } = this.parts.limits;
    const most = Math.min(MOST_BULK, Math.max(LEAST_BULK * bulkSlots, this.#bulkEnded.perSecond));
    const room = most - this.#bulkHere;
    return room >= most / 2 ? room : 0;
  }

  /** Carries out one attempt. Answers no event when none was begun: the email stays `queued`, and offers itself again. */
  perform(order: Order, tell: TellActor): Promise<readonly EmailEvent[]> | readonly EmailEvent[] {
    const { id } = order.actor;
    if (this.#held.has(id)) return [];
    this.#held.set(id, order);
    const known = order.payload as LiveMessage | undefined;
    if (known?.campaign_id) {
      this.#coming.add(order);
      this.#domains.set(order, known.domain_id ?? '');
    }
    return this.#perform(order, tell).finally(() => {
      this.#coming.delete(order);
      this.#domains.delete(order);
    });
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
      (await this.parts.reader.routingOf(actor.id).catch(unprepared));
    const name = await this.#transportOf(routing).catch(unprepared);
    const isBulk = (routing?.campaign_id ?? null) !== null;
    if (isBulk) order.isBulk = true;
    const slots = name && (isBulk ? this.#bulk : this.#slots).get(name);
    if (!slots) return [];
    // A thousand emails of a paused campaign offer themselves again and again: they must take no slots from another one's.
    const standing = await this.#standing(routing);
    if (standing === 'held') return [];
    if (!isBulk && slots.capacity <= MOST_NEW) order.payload = undefined;
    if (isBulk) this.#bulkPace.begin();
    this.#coming.delete(order);
    if (!(await slots.take())) return [];
    this.#begun.set(order, slots);
    const found = await this.#find(order).catch(unprepared);
    const octets = octetsOf(found?.message ?? null, context);
    if (!found || !(await this.#takeMemory(order, slots, octets))) return [];
    try {
      const prepared = await prepare(this.parts, actor, found.message, standing).catch(unprepared);
      // The domain may have changed its transport meanwhile: then the email offers itself again, for a slot of that one.
      if (!prepared || this.#transportNameOf(prepared.sender) !== name) return [];
      const attempt = new LiveAttempt(context, {
        clock,
        tell,
        endsAfterMs: (leaseMs) => leaseMs - limits.marginMs,
        isStopping: () => this.#stopping,
      });
      const events = await this.#attempt(actor, prepared, attempt);
      return await attempt.eventsWith(() => events);
    } finally {
      this.#memory.release(octets);
    }
  }

  /** The message, a large one without its content. A message that came with the order is not read again. */
  async #find({ actor, payload }: Order): Promise<{ readonly message: Found | null }> {
    return { message: (payload as LiveMessage | undefined) ?? (await this.parts.reader.message(actor.id)) };
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
    const domainId = routing?.domain_id ?? null;
    return this.#transportNameOf(domainId === null ? 'removed' : await senders.find(domainId));
  }

  /** An email that cannot leave takes a slot of the default transport. */
  #transportNameOf(sender: Sender | SenderProblem): Transport['name'] {
    return (typeof sender === 'string' ? null : sender.provider) ?? this.parts.enabled[0];
  }

  /** The transports that others follow, with the state of each. */
  get transportStates(): TransportOrder['states'] {
    return this.#order.states;
  }

  /** How many warm-ups have nothing left of this day, as far as this instance knows. */
  get warmUpsUsedUp(): number {
    return this.parts.warmUps.usedUp;
  }

  /**
   * About how many recipients of campaigns from a domain have room in its warm-up on this day; null without a limit. Those that are here
   * already have their part of it. @throws Unavailable
   */
  async warmUpRoom(domainId: string): Promise<number | null> {
    const sender = await this.parts.senders.find(domainId);
    if (typeof sender === 'string') return null;
    const { name: first } = this.parts.transport(sender.provider);
    // While the first one is down, the next is where they go.
    const name = orderOf(first, sender.fallbacks).find((one) => !this.#order.isDown(one)) ?? first;
    const warmUp = sender.warmUps.find(({ provider }) => provider === name);
    const room = warmUp ? await this.parts.warmUps.roomOf({ domainId, warmUp, isBulk: true }) : null;
    const here = this.#domains.values().reduce((sum, domain) => sum + (domain === domainId ? 1 : 0), 0);
    return room === null ? null : Math.max(0, room - here);
  }

  get #bulkHere(): number {
    return this.#coming.size + Math.max(...this.#bulk.values().map(({ taken, waiting }) => taken + waiting));
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
    if ([...this.#bulk.values()].includes(slots)) this.#bulkEnded.note();
  }

  /** Forgets cached senders, because a domain has changed. */
  domainsChanged(): void {
    this.parts.senders.forget();
  }

  /** Begins no more attempts; those under way have `stopMs` to end by themselves. */
  stop(): void {
    this.#stopping = true;
    this.#bulkPace.stop();
    for (const semaphore of [this.#memory, ...this.#slots.values(), ...this.#bulk.values()]) semaphore.stop();
    this.#stopTimer = setTimeout(() => this.#stop.abort(), this.parts.limits.stopMs);
  }

  /** Ends the stop: no attempt is under way any more. */
  stopped(): void {
    clearTimeout(this.#stopTimer);
    this.parts.bulkWriter.close();
  }

  async #attempt(actor: Actor, prepared: Prepared, attempt: LiveAttempt): Promise<readonly EmailEvent[]> {
    const { clock, limits, transport } = this.parts;
    const context = actor.snapshot.context as EmailContext;
    const open = context.recipients.flatMap((one, index) =>
      mayBeTried(one, context.holdsDoubt) ? [index] : [],
    );
    const lost = prepared.lost && (`body-${prepared.lost.what}` as const);
    const senderOrProblem = prepared.message === null ? (lost ?? 'pruned') : prepared.sender;
    const nobodyGetsIt = (outcome: Omit<RecipientOutcome, 'recipient'>) => {
      const untried = open.map((recipient): RecipientOutcome => ({ recipient, ...outcome }));
      return eventsOfAttempt(attempt, '', [], untried, clock.now());
    };
    if (typeof senderOrProblem === 'string') return nobodyGetsIt(PRECHECK_FAILURES[senderOrProblem]);
    const { message, suppressed, skipped, unmade } = prepared as Prepared & { readonly message: LiveMessage };
    if (skipped !== null) return nobodyGetsIt({ outcome: 'suppressed', data: { reason: skipped } });
    if (unmade !== undefined) return nobodyGetsIt(failureToMake(unmade));
    const sender = senderOrProblem;
    const by = transport(sender.provider);
    const isSuppressed = (recipient: number): boolean => {
      const reason = suppressed.get(message.recipient_keys[recipient] ?? '');
      // A recipient who unsubscribed still gets mail that offers no unsubscribe link, such as a receipt or a new password.
      return reason === 'unsubscribed' ? isList(recipient) : reason !== undefined;
    };
    const isList = (recipient: number): boolean => {
      const address = message.recipients[recipient] ?? '';
      const copy = { destination: { emailId: actor.id, recipient }, workspaceId: actor.workspaceId, address };
      return offersExit(message, copy, sender, this.parts.personalise);
    };
    const withheld = new Set(open.filter(isSuppressed));
    // A recipient counts once, with the first attempt that opens a session.
    const lane = context.counted?.transport === by.name ? null : laneOf(message, sender, by.name);
    const room = lane && (await this.#roomIn(lane, open.length - withheld.size, actor));
    if (room === 'unknown') attempt.hold();
    if (room === 'unknown') return [];
    const full = lane && room && room.until !== null ? { ...room, transport: lane.warmUp.provider } : null;
    // While the transport that is warmed up is down, mail that has no room there is the next one's.
    if (full && !this.#mayPassOver(by.name, sender)) attempt.postpone(full);
    if (attempt.isPutOff) return [];
    if (lane && room?.until === null) attempt.count(lane.warmUp.provider);
    const refuses = async (name: Transport['name']): Promise<string | null> =>
      name === by.name ? full && usedUp(full) : await refusalOf(this.parts.warmUps, message, sender, name);
    const copies = new Semaphore(COPIES_AT_ONCE);
    // The copies share the time of the attempt, so one that waited has what the others left. It ends before the lease does,
    // which counts from the beginning of the attempt.
    const until = clock.monotonic() + context.leaseMs - limits.marginMs;
    const tried = await Promise.all(
      open
        .filter((recipient) => !withheld.has(recipient))
        .map((recipient) =>
          copies.run(() => this.#send(actor, recipient, message, sender, by, until, attempt, refuses)),
        ),
    );
    const untried = [...withheld].map(
      (recipient): RecipientOutcome => ({ recipient, outcome: 'suppressed', data: {} }),
    );
    const left = tried.filter((one) => one !== null);
    // None of the others took it: it waits for room after all.
    if (full && left.length === 0 && !attempt.isAsked) attempt.postpone(full);
    if (attempt.isPutOff) return [];
    // What another transport took, while the one that is warmed up was down, is no part of its day; nor is what opened no session.
    const isUnused = !attempt.isAsked || left.every((one) => one.by.name !== lane?.warmUp.provider);
    if (isUnused && room?.until === null) room.giveBack();
    const { attempt: number, by: owner } = attempt;
    const ended = {
      attempt: number,
      by: owner,
      ...(room?.until === null && isUnused && { uncounted: true as const }),
    };
    return eventsOfAttempt(ended, message.envelope.messageId, left, untried, clock.now());
  }

  /** Takes room in the warm-up of its domain; `unknown` while nobody can say whether there is any. */
  async #roomIn(lane: Lane, recipients: number, actor: Actor): Promise<Room | 'unknown' | null> {
    if (recipients === 0) return null;
    try {
      return await this.parts.warmUps.take(lane, recipients);
    } catch (error) {
      this.#warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return 'unknown';
    }
  }

  /** True when others come after a transport that is down. */
  #mayPassOver(first: Transport['name'], { fallbacks }: Sender): boolean {
    return this.#order.isDown(first) && orderOf(first, fallbacks).length > 1;
  }

  /** Sends one copy; null when another attempt has it. A fault before the transport has the copy defers it: nothing was sent. */
  async #send(
    actor: Actor,
    recipient: number,
    message: LiveMessage,
    sender: Sender,
    by: Transport,
    /** Monotonic. */
    until: number,
    attempt: LiveAttempt,
    refuses: (name: Transport['name']) => Promise<string | null>,
  ): Promise<AttemptResult | null> {
    const { acceptedAt } = actor.snapshot.context as EmailContext;
    const destination = { emailId: actor.id, recipient };
    const address = message.recipients[recipient] ?? '';
    const token = returnToken(destination, this.parts.signer);
    const copy = {
      destination,
      workspaceId: actor.workspaceId,
      address,
      attempt: attempt.attempt,
      acceptedAt,
      token,
    };
    const undone = (reason: string): AttemptResult => ({
      recipient,
      by,
      sent: withoutReply(address, 'deferred', reason, 'General'),
    });
    if (this.#stop.signal.aborted) return undone('The service is stopping');
    let outbound: OutboundMessage;
    try {
      outbound = message.campaign_id
        ? await this.parts.bulkWriter.write(message, copy, sender, by.name)
        : outboundMessage(message, copy, sender, this.parts.personalise);
    } catch (error) {
      this.parts.logger.error({ err: error, actor: actor.id }, 'A copy could not be written.');
      return undone('The message could not be written');
    }
    const limits = {
      signal: this.#stop.signal,
      deadlineMs: until - this.parts.clock.monotonic(),
      begin: async () => !(await this.#isHeld(message, attempt)) && attempt.mayLeave(recipient),
    };
    if (limits.deadlineMs <= 0) return undone('The copies before it took all the time there was');
    const sent = await this.#handOver(by, sender, outbound, limits, refuses);
    return sent && { recipient, ...sent };
  }

  /** A campaign may be paused, and a workspace archived, while an email waits for a connection. */
  async #isHeld(message: LiveMessage, attempt: LiveAttempt): Promise<boolean> {
    const isHeld = (await this.#standing(message)) !== 'sends' || (await this.#isArchived(message));
    if (isHeld) attempt.hold();
    return isHeld;
  }

  /** While nobody can say, no attempt can begin either: beginning is written to the same database. */
  async #isArchived({ domain_id: id }: LiveMessage): Promise<boolean> {
    const sender = id === null ? null : await this.parts.senders.find(id).catch(() => null);
    return sender === 'archived';
  }

  /** How the campaign of an email stands. While nobody can say, nothing leaves: the email offers itself again. */
  async #standing(email: Routing | null): Promise<Standing> {
    const id = email?.campaign_id ?? null;
    const campaigns = id === null ? undefined : this.parts.campaigns();
    return (await campaigns?.standing(id as string).catch(() => 'held' as const)) ?? 'sends';
  }

  /** Turns the rejection of a transport (a bug, or captured mail that cannot be stored) into an outcome of this copy alone. */
  async #handOver(
    by: Transport,
    { provider, fallbacks }: Sender,
    outbound: OutboundMessage,
    limits: SendLimits,
    refuses: (name: Transport['name']) => Promise<string | null>,
  ): Promise<Pick<AttemptResult, 'by' | 'sent'> | null> {
    try {
      const { outcomes, ...last } = await this.#order.send(provider, fallbacks, outbound, limits, refuses);
      const [sent] = outcomes;
      if (sent) return { ...last, sent };
      throw new Error(`The transport ${by.name} told no outcome.`);
    } catch (error) {
      if (error instanceof NotBegun) return null;
      this.parts.logger.error({ err: error, actor: outbound.emailId }, 'A transport failed.');
      const outcome = error instanceof Unavailable ? 'deferred' : 'unknown';
      const [address = ''] = outbound.recipients;
      const sent = withoutReply(
        address,
        outcome,
        'The transport failed here, not at the receiver',
        'General',
      );
      return { by, sent };
    }
  }
}

/** The memory of a large message: itself, and its copies that are sent at once. 0 for any other. */
const octetsOf = (message: Found | null, { recipients, holdsDoubt }: EmailContext): number => {
  if (message === null || message.content !== null) return 0;
  const open = recipients.filter((one) => mayBeTried(one, holdsDoubt)).length;
  return message.size * (1 + Math.min(open, COPIES_AT_ONCE));
};
