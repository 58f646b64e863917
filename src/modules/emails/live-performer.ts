import type { EmailContext, EmailEvent } from '../../../machines/email-context.ts';
import { mayBeTried, type RecipientOutcome } from '../../../machines/email-progress.ts';
import type { Signer } from '../../db/sign.ts';
import { Unavailable } from '../../db/unavailable.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Actor } from '../../engine/kind.ts';
import type { Order } from '../../engine/tell-batch.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { Gate } from '../../transport/gate.ts';
import { withoutReply } from '../../transport/smtp/outcome.ts';
import type {
  EnabledWays,
  OutboundMessage,
  SendLimits,
  RecipientOutcome as Sent,
  Transport,
} from '../../transport/transport.ts';
import { outboundMessage, type Personalise, type Sender } from './live-message.ts';
import { eventsOfAttempt, type Tried } from './live-outcome.ts';
import type { LiveMessage, LiveReader, Suppression } from './live-reading.ts';
import type { Senders, Unfit } from './live-sender.ts';
import { LiveSlots } from './live-slots.ts';
import { returnToken } from './live-token.ts';

/** How long things may take, in milliseconds. */
export interface LiveLimits {
  /** Attempts that run at once by each way. */
  readonly slots: number;
  /** What an attempt takes at most: ten minutes after the final dot (RFC 5321 4.5.3.2.6), and what comes before it. */
  readonly attemptMs: number;
  /** From the end of an attempt to the end of its lease: its outcome has to become durable. */
  readonly marginMs: number;
  /** What a stop waits for attempts under way; those that remain are abandoned, and what is known of them is recorded. */
  readonly stopMs: number;
}

/** The limits in force, unless a test sets others. */
export const LIVE_LIMITS: Omit<LiveLimits, 'slots'> = {
  attemptMs: 630_000,
  marginMs: 15_000,
  stopMs: 12_000,
};

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
  readonly enabled: EnabledWays;
}

/** Orders that wait for slots are held in memory; all ways together so many. */
export const HELD = 2_000;

/** Copies of one email that are on their way at once: each holds the whole message in memory. */
const COPIES = 4;

/** Sends live mail: one copy a recipient, so that each can be followed, and bounce, by itself. */
export class LivePerformer {
  /** Each way has slots of its own: one that stands still keeps none of the others waiting. */
  readonly #slots = new Map<Transport['name'], LiveSlots>();
  /** Orders and the slots they hold: until their outcome is durable, so that no crash can leave more in doubt than there are. */
  readonly #begun = new Map<Order, LiveSlots>();
  readonly #stop = new AbortController();
  #stopTimer: Timer | undefined;

  constructor(private readonly parts: LiveParts) {
    const { enabled, limits, clock } = parts;
    const line = Math.floor(HELD / enabled.length);
    for (const way of enabled) this.#slots.set(way, new LiveSlots(limits.slots, clock.monotonic, line));
  }

  /** Carries out one attempt, or says that it was not begun. */
  async perform(order: Order): Promise<readonly EmailEvent[]> {
    const { actor, payload } = order;
    const context = actor.snapshot.context as EmailContext;
    const { clock, limits, logger } = this.parts;
    const endsAt = context.at + context.leaseMs - limits.marginMs;
    const declined = (): readonly EmailEvent[] => [
      { type: 'attempt.declined', at: clock.now(), attempt: context.attempt },
    ];
    const unprepared = (error: unknown) => {
      logger.warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return null;
    };
    const way = await this.#wayOf(actor.id, payload as LiveMessage | undefined).catch(unprepared);
    const slots = way && this.#slots.get(way);
    if (!slots || !(await slots.take(endsAt - limits.attemptMs - clock.now()))) return declined();
    this.#begun.set(order, slots);
    const prepared = await this.#prepare(actor, payload).catch(unprepared);
    // Its domain may have gone over to another way while it waited: then it waits for a slot of that one.
    if (!prepared || this.#wayBy(prepared.sender) !== way) return declined();
    return this.#attempt(actor, prepared, endsAt - clock.now());
  }

  /** Whose slot an email needs; asked before its message, which may be large, comes into memory. */
  async #wayOf(id: string, message: LiveMessage | undefined): Promise<Transport['name']> {
    const { enabled, reader, senders } = this.parts;
    if (enabled.length === 1) return enabled[0];
    const domainId = message ? message.domain_id : await reader.domainOf(id);
    return this.#wayBy(domainId === null ? 'removed' : await senders.find(domainId));
  }

  /** What does not leave at all takes the default way's slots. */
  #wayBy(sender: Sender | Unfit): Transport['name'] {
    return (typeof sender === 'string' ? null : sender.provider) ?? this.parts.enabled[0];
  }

  /** What the order came to is durable: its slot is free. */
  settled(order: Order): void {
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
    for (const slots of this.#slots.values()) slots.stop();
    this.#stopTimer = setTimeout(() => this.#stop.abort(), this.parts.limits.stopMs);
  }

  /** Nothing is under way any more. */
  stopped(): void {
    clearTimeout(this.#stopTimer);
  }

  async #prepare({ id, workspaceId }: Actor, payload: unknown): Promise<Prepared> {
    const { reader, senders } = this.parts;
    const message = (payload as LiveMessage | undefined) ?? (await reader.message(id));
    if (!message) return { message, sender: 'removed', suppressed: new Map() };
    const [sender, suppressed] = await Promise.all([
      message.domain_id === null ? ('removed' as const) : senders.find(message.domain_id),
      reader.suppressions(workspaceId, message.recipient_keys),
    ]);
    return { message, sender, suppressed };
  }

  async #attempt(actor: Actor, prepared: Prepared, deadlineMs: number): Promise<readonly EmailEvent[]> {
    const { clock, transport } = this.parts;
    const context = actor.snapshot.context as EmailContext;
    const open = context.recipients.flatMap((one, index) =>
      mayBeTried(one, context.holdsDoubt) ? [index] : [],
    );
    const hindrance = prepared.message === null ? 'pruned' : prepared.sender;
    if (typeof hindrance === 'string') {
      const untried = open.map((recipient): RecipientOutcome => ({ recipient, ...HINDRANCES[hindrance] }));
      return eventsOfAttempt(context, '', [], untried, clock.now());
    }
    const { message, suppressed } = prepared as Prepared & { readonly message: LiveMessage };
    const sender = hindrance;
    const by = transport(sender.provider);
    const isSuppressed = (recipient: number): boolean =>
      keepsAway(suppressed.get(message.recipient_keys[recipient] ?? ''), message);
    const gate = new Gate(COPIES);
    const limits = { signal: this.#stop.signal, deadlineMs };
    const tried = await Promise.all(
      open
        .filter((recipient) => !isSuppressed(recipient))
        .map((recipient) => gate.pass(() => this.#send(actor, recipient, message, sender, by, limits))),
    );
    const untried = open
      .filter(isSuppressed)
      .map((recipient): RecipientOutcome => ({ recipient, outcome: 'suppressed', data: {} }));
    return eventsOfAttempt(context, message.envelope.messageId, tried, untried, clock.now());
  }

  /** One copy. What goes wrong before a transport has it went nowhere. */
  async #send(
    actor: Actor,
    recipient: number,
    message: LiveMessage,
    sender: Sender,
    by: Transport,
    limits: SendLimits,
  ): Promise<Tried> {
    const { acceptedAt, attempt } = actor.snapshot.context as EmailContext;
    const destination = { emailId: actor.id, recipient };
    const address = message.recipients[recipient] ?? '';
    const token = returnToken(destination, this.parts.signer);
    const copy = { destination, workspaceId: actor.workspaceId, address, attempt, acceptedAt, token };
    const undone = (reason: string): Tried => ({
      recipient,
      by,
      sent: withoutReply(address, 'deferred', reason, 'General'),
    });
    if (limits.signal.aborted) return undone('The service is stopping');
    let outbound: OutboundMessage;
    try {
      outbound = outboundMessage(message, copy, sender, this.parts.personalise);
    } catch (error) {
      this.parts.logger.error({ err: error, actor: actor.id }, 'A copy could not be written.');
      return undone('The message could not be written');
    }
    const sent = await this.#hand(by, outbound, limits);
    return { recipient, by, sent };
  }

  /** A transport rejects for a bug of ours, or when captured mail cannot be kept; the other copies must not suffer from it. */
  async #hand(by: Transport, outbound: OutboundMessage, limits: SendLimits): Promise<Sent> {
    try {
      const [sent] = await by.send(outbound, limits);
      if (sent) return sent;
      throw new Error(`The transport ${by.name} told no outcome.`);
    } catch (error) {
      this.parts.logger.error({ err: error, actor: outbound.emailId }, 'A transport failed.');
      const outcome = error instanceof Unavailable ? 'deferred' : 'unknown';
      const [address = ''] = outbound.recipients;
      return withoutReply(address, outcome, 'The transport failed here, not at the receiver', 'General');
    }
  }
}

interface Prepared {
  /** null: retention has taken it. */
  readonly message: LiveMessage | null;
  readonly sender: Sender | Unfit;
  readonly suppressed: ReadonlyMap<string, Suppression>;
}

/** Who left a list still gets what is no list's: a receipt, a new password. */
const keepsAway = (reason: Suppression | undefined, { campaign_id }: LiveMessage): boolean =>
  reason !== undefined && (reason !== 'unsubscribed' || (campaign_id ?? null) !== null);

const ours = (message: string) => ({
  subType: 'General',
  smtpCode: null,
  enhancedCode: null,
  message,
  remoteMta: null,
});

/** What keeps an email from leaving before anybody is asked to take it. */
const HINDRANCES = {
  removed: {
    outcome: 'refused',
    reason: 'domain_removed',
    data: ours('The sending domain was removed before the email left'),
  },
  wayClosed: {
    outcome: 'deferred',
    data: ours('The provider that its sending domain has chosen is not enabled here (TRANSPORT)'),
  },
  unverified: { outcome: 'deferred', data: ours('The sending domain is not verified any more') },
  pruned: { outcome: 'refused', reason: 'rejected', data: ours('Its content is not kept any more') },
} as const satisfies Record<Unfit | 'pruned', Omit<RecipientOutcome, 'recipient'>>;
