import type { EmailContext, EmailEvent } from '../../../../machines/email/context.ts';
import { mayBeTried } from '../../../../machines/email/progress.ts';
import type { RecipientOutcome } from '../../../../machines/email/recipient.ts';
import type { Actor } from '../../../engine/machine/kind.ts';
import { NotBegun, TakenBack } from '../../../mail/transport/begin.ts';
import { orderOf, type TransportOrder } from '../../../mail/transport/order.ts';
import { withoutReply } from '../../../mail/transport/smtp/outcome.ts';
import type { OutboundMessage, SendLimits, Transport } from '../../../mail/transport/transport.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { rarely } from '../../../platform/telemetry/rarely.ts';
import type { Act } from '../../suppressions/queries.ts';
import type { CampaignSendState } from '../campaign-mail.ts';
import { laneOf, NOTHING_COUNTS, refusalOf, shareOf, usedUp, type WarmUpShare } from '../warm-up/room.ts';
import type { Lane } from '../warm-up/warm-ups.ts';
import type { LiveAttempt } from './attempt.ts';
import { offersExit, outboundMessage, type Sender } from './message.ts';
import { type AttemptResult, eventsOfAttempt } from './outcome.ts';
import type { LiveParts } from './parts.ts';
import { type AttemptInput, reasonToSkip, withholdings } from './prepare.ts';
import type { LiveMessage, Routing } from './reader.ts';
import { forwardToken, returnToken } from './return-token.ts';
import { type SendableMessage, sendableOf } from './sendable.ts';

/** Copies of one email that are sent at once: each holds the whole message in memory. */
export const COPIES_AT_ONCE = 4;

/** Sends the copies of an email whose attempt has a slot: one for each recipient who may be written to. */
export class Delivery {
  constructor(
    private readonly parts: LiveParts,
    /** The transports of each email in their order. */
    private readonly order: TransportOrder,
    /** Ends the copies under way. */
    private readonly signal: AbortSignal,
    private readonly warn: ReturnType<typeof rarely>,
  ) {}

  /** Makes one attempt, and returns its outcome. */
  async attempt(actor: Actor, prepared: AttemptInput, attempt: LiveAttempt): Promise<readonly EmailEvent[]> {
    const { clock, transport } = this.parts;
    const context = actor.snapshot.context as EmailContext;
    const open = context.recipients.flatMap((one, index) =>
      mayBeTried(one, context.holdsDoubt) ? [index] : [],
    );
    const sendable = sendableOf(prepared);
    if ('outcome' in sendable) {
      const untried = open.map((recipient) => ({ recipient, ...sendable }));
      return eventsOfAttempt(attempt, '', [], untried, clock.now());
    }
    const { message, sender } = sendable;
    const by = transport(sender.provider);
    const withheld = new Map(
      open.flatMap((one): [number, Act][] => {
        const act = this.#actAgainst(actor, one, sendable);
        return act === null ? [] : [[one, act]];
      }),
    );
    const asked = open.filter((recipient) => !withheld.has(recipient));
    // A recipient counts once, with the first attempt that opens a session.
    const lane = context.counted?.transport === by.name ? null : laneOf(message, sender, by.name);
    const share = await this.#shareOf(lane, asked.length, actor);
    if (!share) attempt.hold();
    if (!share) return [];
    // While the transport that is warmed up is down, mail that has no room there is the next one's.
    if (share.full && !this.#mayPassOver(by.name, sender)) attempt.postpone(share.full);
    if (attempt.isPutOff) return [];
    if (share.taken) attempt.count(share.taken);
    const refuses = async (name: Transport['name']): Promise<string | null> =>
      name === by.name
        ? share.full && usedUp(share.full)
        : await refusalOf(this.parts.warmUps, message, sender, name);
    const left = await this.#copies(actor, asked, sendable, by, attempt, refuses);
    // None of the others took it: it waits for room after all.
    if (share.full && left.length === 0 && !attempt.isAsked) attempt.postpone(share.full);
    if (attempt.isPutOff) return [];
    // Mail that another transport took while the warmed-up one was down is no part of its day; nor is mail
    // that opened no session.
    const isUsed = attempt.isAsked && left.some((one) => one.by.name === share.taken);
    const uncounted = share.taken !== null && !isUsed;
    if (uncounted) share.giveBack();
    if (attempt.isTakenBack && left.length === 0 && withheld.size === 0) return [];
    const ended = { attempt: attempt.attempt, by: attempt.by, uncounted };
    const untried = [...withheld].map(
      ([recipient, reason]): RecipientOutcome => ({ recipient, outcome: 'suppressed', data: { reason } }),
    );
    return eventsOfAttempt(ended, message.envelope.messageId, left, untried, clock.now());
  }

  /**
   * The act for which a recipient gets no copy; null for one who does. Those who unsubscribed, and contacts
   * who are not subscribed, still get mail that offers no way to unsubscribe, such as a receipt or a new
   * password.
   */
  #actAgainst(actor: Actor, recipient: number, { message, sender, suppressed }: SendableMessage): Act | null {
    const withholding = suppressed.get(message.recipient_keys[recipient] ?? '');
    if (!withholding) return null;
    const { act, isOfLists } = withholding;
    if (!isOfLists) return act;
    const address = message.recipients[recipient] ?? '';
    const copy = { destination: { emailId: actor.id, recipient }, workspaceId: actor.workspaceId, address };
    return offersExit(message, copy, sender, this.parts.personalise) ? act : null;
  }

  /** Sends a copy to each of these recipients. Leaves out those that another attempt has. */
  async #copies(
    actor: Actor,
    recipients: readonly number[],
    { message, sender }: SendableMessage,
    by: Transport,
    attempt: LiveAttempt,
    refuses: (name: Transport['name']) => Promise<string | null>,
  ): Promise<readonly AttemptResult[]> {
    const copies = new Semaphore(COPIES_AT_ONCE);
    const { leaseMs } = actor.snapshot.context as EmailContext;
    // The copies share the time of the attempt, so one that waited has what the others left. It ends before
    // the lease does, which counts from the beginning of the attempt.
    const until = this.parts.clock.monotonic() + leaseMs - this.parts.limits.marginMs;
    const tried = await Promise.all(
      recipients.map((recipient) =>
        copies.run(() => this.#send(actor, recipient, message, sender, by, until, attempt, refuses)),
      ),
    );
    return tried.filter((one) => one !== null);
  }

  /** Takes a share of the day that its transport is warmed up on; null while the room is unknown. */
  async #shareOf(lane: Lane | null, recipients: number, actor: Actor): Promise<WarmUpShare | null> {
    if (!lane || recipients === 0) return NOTHING_COUNTS;
    try {
      return shareOf(lane, await this.parts.warmUps.take(lane, recipients));
    } catch (error) {
      this.warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return null;
    }
  }

  /** True when others come after a transport that is down. */
  #mayPassOver(first: Transport['name'], { fallbacks }: Sender): boolean {
    return this.order.isDown(first) && orderOf(first, fallbacks).length > 1;
  }

  /**
   * Sends one copy; null when another attempt has it. A fault before the transport has the copy defers it:
   * nothing was sent.
   */
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
    const destination = { emailId: actor.id, recipient };
    const address = message.recipients[recipient] ?? '';
    const isForwarded = message.envelope.forwardedFrom !== undefined;
    const token = (isForwarded ? forwardToken : returnToken)(destination, this.parts.signer);
    const copy = {
      destination,
      workspaceId: actor.workspaceId,
      address,
      attempt: attempt.attempt,
      date: attempt.date,
      token,
    };
    const undone = (reason: string): AttemptResult => ({
      recipient,
      by,
      sent: withoutReply(address, 'deferred', reason, 'General'),
    });
    if (this.signal.aborted) return undone('The service is stopping');
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
      signal: this.signal,
      deadlineMs: until - this.parts.clock.monotonic(),
      begin: async () =>
        !(await this.#isHeld(message, attempt)) &&
        !(await this.#isWithheld(actor, recipient, { message, sender }, attempt)) &&
        attempt.mayLeave(recipient),
      mayTakeBack: true,
    };
    if (limits.deadlineMs <= 0) return undone('The copies before it took all the time there was');
    const sent = await this.#handOver(by, sender, outbound, limits, attempt, refuses);
    return sent && { recipient, ...sent };
  }

  /** A campaign may be paused, and a workspace archived, while an email waits for a connection. */
  async #isHeld(message: LiveMessage, attempt: LiveAttempt): Promise<boolean> {
    const isHeld = (await this.standing(message)) !== 'sends' || (await this.#isArchived(message));
    if (isHeld) attempt.hold();
    return isHeld;
  }

  /**
   * True when the recipient has left while the email waited. It asks after a wait alone. Without an answer of
   * the database nothing leaves.
   */
  async #isWithheld(
    actor: Actor,
    recipient: number,
    { message, sender }: Pick<SendableMessage, 'message' | 'sender'>,
    attempt: LiveAttempt,
  ): Promise<boolean> {
    if (!attempt.hasWaited) return false;
    const isWithheld = await Promise.all([
      withholdings(this.parts, actor, message),
      reasonToSkip(this.parts, actor, message),
    ]).then(
      ([suppressed, skipped]) =>
        skipped !== null || this.#actAgainst(actor, recipient, { message, sender, suppressed }) !== null,
      () => true,
    );
    if (isWithheld) attempt.hold();
    return isWithheld;
  }

  /**
   * While the database is away, no attempt can begin either: its beginning is written to the same database.
   */
  async #isArchived(message: LiveMessage): Promise<boolean> {
    const sender = await this.parts.senders.ofEmail(message).catch(() => null);
    return sender === 'archived';
  }

  /**
   * The state of the campaign of an email. While it is unknown, nothing leaves: the email is due again later.
   */
  async standing(email: Routing | null): Promise<CampaignSendState> {
    const id = email?.campaign_id ?? null;
    const campaigns = id === null ? undefined : this.parts.campaigns();
    return (await campaigns?.standing(id as string).catch(() => 'held' as const)) ?? 'sends';
  }

  /**
   * Turns the rejection of a transport (a bug, or captured mail that cannot be stored) into an outcome of
   * this copy alone.
   */
  async #handOver(
    by: Transport,
    { provider, fallbacks }: Sender,
    outbound: OutboundMessage,
    limits: SendLimits,
    attempt: LiveAttempt,
    refuses: (name: Transport['name']) => Promise<string | null>,
  ): Promise<Pick<AttemptResult, 'by' | 'sent'> | null> {
    try {
      const { outcomes, ...last } = await this.order.send(provider, fallbacks, outbound, limits, refuses);
      const [sent] = outcomes;
      if (sent) return { ...last, sent };
      throw new Error(`The transport ${by.name} told no outcome.`);
    } catch (error) {
      if (error instanceof TakenBack) attempt.takeBack();
      if (error instanceof NotBegun) return null;
      this.parts.logger.error({ err: error, actor: outbound.emailId }, 'A transport failed.');
      const outcome = error instanceof UnavailableError ? 'deferred' : 'unknown';
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
