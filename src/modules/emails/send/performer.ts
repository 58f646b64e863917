import type { EmailContext, EmailEvent } from '../../../../machines/email-context.ts';
import { mayBeTried } from '../../../../machines/email-progress.ts';
import type { RecipientOutcome } from '../../../../machines/email-recipient.ts';
import type { SuppressionReason } from '../../../../machines/email-rules.ts';
import { Gate } from '../../../async/gate.ts';
import { WeightedSemaphore } from '../../../async/weighted-semaphore.ts';
import type { Signer } from '../../../crypto/signer.ts';
import type { Order } from '../../../engine/draft.ts';
import type { Actor } from '../../../engine/kind.ts';
import type { TellActor } from '../../../engine/performers.ts';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { rarely } from '../../../telemetry/rarely.ts';
import type { Clock } from '../../../time/clock.ts';
import { NotBegun } from '../../../transport/begin.ts';
import { withoutReply } from '../../../transport/smtp/outcome.ts';
import type {
  EnabledTransports,
  OutboundMessage,
  SendLimits,
  RecipientOutcome as Sent,
  Transport,
} from '../../../transport/transport.ts';
import { LiveAttempt } from './attempt.ts';
import type { LiveLimits } from './limits.ts';
import { offersExit, outboundMessage, type Personalise, type Sender } from './message.ts';
import { type AttemptResult, eventsOfAttempt, PRECHECK_FAILURES } from './outcome.ts';
import type { LiveMessage, LiveReader, MessageWithoutContent } from './reader.ts';
import { returnToken } from './return-token.ts';
import type { SenderProblem, Senders } from './senders.ts';

/** What live mail is sent with. */
export interface LiveParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reader: LiveReader;
  readonly signer: Signer;
  readonly limits: LiveLimits;
  readonly senders: Senders;
  /** The way that has that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  readonly personalise: Personalise;
  /** The ways that mail may leave by, the default one first. */
  readonly enabled: EnabledTransports;
}

/**
 * Orders of one way that wait in memory for a slot: enough to fill every slot several times until the next ones have been claimed.
 * Whatever waits is in no doubt; what waits in the database instead can be taken by another instance too.
 */
const LINE = 256;

/** Copies of one email that are on their way at once: each holds the whole message in memory. */
const COPIES = 4;

/** Sends live mail: one copy a recipient, so that each can be followed, and bounce, by itself. */
export class LivePerformer {
  /** Each way has slots of its own: one that stands still keeps none of the others waiting. */
  readonly #slots = new Map<Transport['name'], WeightedSemaphore>();
  readonly #room: WeightedSemaphore;
  /** By email, the order that is here, until what it came to is durable: an email that waits offers itself again and again. */
  readonly #held = new Map<string, Order>();
  /** Orders and the slots they hold: until their outcome is durable, so that no crash can leave more in doubt than there are. */
  readonly #begun = new Map<Order, WeightedSemaphore>();
  readonly #stop = new AbortController();
  #stopTimer: Timer | undefined;
  /** Whatever is in the way of one attempt is in the way of all, and of each every second. */
  readonly #warn: ReturnType<typeof rarely>;
  #stopping = false;

  constructor(private readonly parts: LiveParts) {
    this.#warn = rarely(parts.logger, parts.clock.monotonic);
    const { enabled, limits, clock } = parts;
    for (const way of enabled)
      this.#slots.set(way, new WeightedSemaphore(limits.slots, clock.monotonic, LINE));
    this.#room = new WeightedSemaphore(limits.octets, clock.monotonic, LINE);
  }

  /** How many more orders would find a slot, or a place in the line for one. */
  get room(): number {
    return this.#slots.values().reduce((sum, slots) => sum + slots.places, 0);
  }

  /** Carries out one attempt. Tells nothing where none is begun: the email stays `queued`, and offers itself again. */
  perform(order: Order, tell: TellActor): Promise<readonly EmailEvent[]> | readonly EmailEvent[] {
    const { id } = order.actor;
    if (this.#held.has(id)) return [];
    this.#held.set(id, order);
    return this.#perform(order, tell);
  }

  async #perform(order: Order, tell: TellActor): Promise<readonly EmailEvent[]> {
    const { actor, payload } = order;
    const context = actor.snapshot.context as EmailContext;
    const { clock, limits } = this.parts;
    const unprepared = (error: unknown) => {
      this.#warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return null;
    };
    const way = await this.#transportOf(actor.id, payload as LiveMessage | undefined).catch(unprepared);
    const slots = way && this.#slots.get(way);
    if (!slots || !(await slots.take())) return [];
    this.#begun.set(order, slots);
    const found = await this.#find(actor, payload).catch(unprepared);
    const octets = octetsOf(found?.message ?? null, context);
    if (!found || !(await this.#makeRoom(order, slots, octets))) return [];
    try {
      const prepared = await this.#prepare(actor, found.message).catch(unprepared);
      // Its domain may have gone over to another way while it waited: then it waits for a slot of that one.
      if (!prepared || this.#wayBy(prepared.sender) !== way) return [];
      const attempt = new LiveAttempt(context, {
        clock,
        tell,
        endsAfterMs: (leaseMs) => leaseMs - limits.marginMs,
        isStopping: () => this.#stopping,
      });
      const events = await this.#attempt(actor, prepared, attempt);
      return await attempt.told(() => events);
    } finally {
      this.#room.release(octets);
    }
  }

  /** The message, a large one without its content; whatever was handed over with the order need not be read. */
  async #find({ id }: Actor, payload: unknown): Promise<{ readonly message: Found | null }> {
    return { message: (payload as LiveMessage | undefined) ?? (await this.parts.reader.message(id)) };
  }

  /** Room for a large message. Where it has to be waited for, the slot is given to somebody who can go on. */
  async #makeRoom(order: Order, slots: WeightedSemaphore, octets: number): Promise<boolean> {
    if (octets === 0 || this.#room.tryTake(octets)) return true;
    this.#giveUpSlot(order);
    if (!(await this.#room.take(octets))) return false;
    if (await slots.take()) {
      this.#begun.set(order, slots);
      return true;
    }
    this.#room.release(octets);
    return false;
  }

  /** Whose slot an email needs; asked before its message, which may be large, comes into memory. */
  async #transportOf(id: string, message: LiveMessage | undefined): Promise<Transport['name']> {
    const { enabled, reader, senders } = this.parts;
    if (enabled.length === 1) return enabled[0];
    const domainId = message ? message.domain_id : await reader.domainOf(id);
    return this.#wayBy(domainId === null ? 'removed' : await senders.find(domainId));
  }

  /** What does not leave at all takes the default way's slots. */
  #wayBy(sender: Sender | SenderProblem): Transport['name'] {
    return (typeof sender === 'string' ? null : sender.provider) ?? this.parts.enabled[0];
  }

  /** What the order came to is durable: its slot is free, and its email may come again. */
  settled(order: Order): void {
    if (this.#held.get(order.actor.id) === order) this.#held.delete(order.actor.id);
    this.#giveUpSlot(order);
  }

  #giveUpSlot(order: Order): void {
    const slots = this.#begun.get(order);
    if (!slots) return;
    this.#begun.delete(order);
    slots.release();
  }

  /** A domain has changed: what was known of it may not be true any more. */
  domainsChanged(): void {
    this.parts.senders.forget();
  }

  /** Begins nothing more; what is under way has a while to end by itself. */
  stop(): void {
    this.#stopping = true;
    for (const room of [this.#room, ...this.#slots.values()]) room.stop();
    this.#stopTimer = setTimeout(() => this.#stop.abort(), this.parts.limits.stopMs);
  }

  /** Nothing is under way any more. */
  stopped(): void {
    clearTimeout(this.#stopTimer);
  }

  async #prepare({ id, workspaceId }: Actor, message: Found | null): Promise<Prepared> {
    const { reader, senders } = this.parts;
    if (!message) return NOTHING_LEFT;
    const [sender, suppressed, content] = await Promise.all([
      message.domain_id === null ? ('removed' as const) : senders.find(message.domain_id),
      reader.suppressions(workspaceId, message.recipient_keys),
      message.content ?? reader.content(id),
    ]);
    return content === null ? NOTHING_LEFT : { message: { ...message, content }, sender, suppressed };
  }

  async #attempt(actor: Actor, prepared: Prepared, attempt: LiveAttempt): Promise<readonly EmailEvent[]> {
    const { clock, limits, transport } = this.parts;
    const context = actor.snapshot.context as EmailContext;
    const open = context.recipients.flatMap((one, index) =>
      mayBeTried(one, context.holdsDoubt) ? [index] : [],
    );
    const hindrance = prepared.message === null ? 'pruned' : prepared.sender;
    if (typeof hindrance === 'string') {
      const untried = open.map(
        (recipient): RecipientOutcome => ({ recipient, ...PRECHECK_FAILURES[hindrance] }),
      );
      return eventsOfAttempt(attempt, '', [], untried, clock.now());
    }
    const { message, suppressed } = prepared as Prepared & { readonly message: LiveMessage };
    const sender = hindrance;
    const by = transport(sender.provider);
    const isSuppressed = (recipient: number): boolean => {
      const reason = suppressed.get(message.recipient_keys[recipient] ?? '');
      // Who left a list still gets what is no list's, a receipt or a new password: what offers no way off one.
      return reason === 'unsubscribed' ? isList(recipient) : reason !== undefined;
    };
    const isList = (recipient: number): boolean => {
      const address = message.recipients[recipient] ?? '';
      const copy = { destination: { emailId: actor.id, recipient }, workspaceId: actor.workspaceId, address };
      return offersExit(message, copy, sender, this.parts.personalise);
    };
    const kept = new Set(open.filter(isSuppressed));
    const gate = new Gate(COPIES);
    // The copies share the time of the attempt: one that had to wait for others has what they left of it. It is over before the
    // lease is, which counts from when the attempt is begun.
    const until = clock.monotonic() + context.leaseMs - limits.marginMs;
    const tried = await Promise.all(
      open
        .filter((recipient) => !kept.has(recipient))
        .map((recipient) =>
          gate.pass(() => this.#send(actor, recipient, message, sender, by, until, attempt)),
        ),
    );
    const untried = [...kept].map(
      (recipient): RecipientOutcome => ({ recipient, outcome: 'suppressed', data: {} }),
    );
    const left = tried.filter((one) => one !== null);
    return eventsOfAttempt(attempt, message.envelope.messageId, left, untried, clock.now());
  }

  /** One copy; null when it was not this attempt's to send. What goes wrong before a transport has it went nowhere. */
  async #send(
    actor: Actor,
    recipient: number,
    message: LiveMessage,
    sender: Sender,
    by: Transport,
    /** Monotonic. */
    until: number,
    attempt: LiveAttempt,
  ): Promise<AttemptResult | null> {
    const limits = {
      signal: this.#stop.signal,
      deadlineMs: until - this.parts.clock.monotonic(),
      begin: () => attempt.mayLeave(recipient),
    };
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
    if (limits.signal.aborted) return undone('The service is stopping');
    if (limits.deadlineMs <= 0) return undone('The copies before it took all the time there was');
    let outbound: OutboundMessage;
    try {
      outbound = outboundMessage(message, copy, sender, this.parts.personalise);
    } catch (error) {
      this.parts.logger.error({ err: error, actor: actor.id }, 'A copy could not be written.');
      return undone('The message could not be written');
    }
    const sent = await this.#hand(by, outbound, limits);
    return sent && { recipient, by, sent };
  }

  /** A transport rejects for a bug of ours, or when captured mail cannot be kept; the other copies must not suffer from it. */
  async #hand(by: Transport, outbound: OutboundMessage, limits: SendLimits): Promise<Sent | null> {
    try {
      const [sent] = await by.send(outbound, limits);
      if (sent) return sent;
      throw new Error(`The transport ${by.name} told no outcome.`);
    } catch (error) {
      if (error instanceof NotBegun) return null;
      this.parts.logger.error({ err: error, actor: outbound.emailId }, 'A transport failed.');
      const outcome = error instanceof Unavailable ? 'deferred' : 'unknown';
      const [address = ''] = outbound.recipients;
      return withoutReply(address, outcome, 'The transport failed here, not at the receiver', 'General');
    }
  }
}

type Found = LiveMessage | MessageWithoutContent;

/** What a large message takes of the room: itself, and its copies that are on their way at once. 0 for any other. */
const octetsOf = (message: Found | null, { recipients, holdsDoubt }: EmailContext): number => {
  if (message === null || message.content !== null) return 0;
  const open = recipients.filter((one) => mayBeTried(one, holdsDoubt)).length;
  return message.size * (1 + Math.min(open, COPIES));
};

interface Prepared {
  /** null: retention has taken it. */
  readonly message: LiveMessage | null;
  readonly sender: Sender | SenderProblem;
  readonly suppressed: ReadonlyMap<string, SuppressionReason>;
}

const NOTHING_LEFT: Prepared = { message: null, sender: 'removed', suppressed: new Map() };
