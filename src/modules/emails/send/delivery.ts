import type { EmailContext, EmailEvent } from '../../../../machines/email-context.ts';
import { mayBeTried } from '../../../../machines/email-progress.ts';
import type { RecipientOutcome } from '../../../../machines/email-recipient.ts';
import { Semaphore } from '../../../async/semaphore.ts';
import type { Actor } from '../../../engine/kind.ts';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { rarely } from '../../../telemetry/rarely.ts';
import { NotBegun } from '../../../transport/begin.ts';
import { orderOf, type TransportOrder } from '../../../transport/order.ts';
import { withoutReply } from '../../../transport/smtp/outcome.ts';
import type { OutboundMessage, SendLimits, Transport } from '../../../transport/transport.ts';
import type { Standing } from '../campaign-mail.ts';
import type { LiveAttempt } from './attempt.ts';
import { offersExit, outboundMessage, type Sender } from './message.ts';
import { type AttemptResult, eventsOfAttempt, failureToMake, PRECHECK_FAILURES } from './outcome.ts';
import type { LiveParts } from './parts.ts';
import type { Prepared } from './prepare.ts';
import type { LiveMessage, Routing } from './reader.ts';
import { returnToken } from './return-token.ts';
import { laneOf, refusalOf, usedUp } from './room.ts';
import type { Lane, Room } from './warm-ups.ts';

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

  /** Carries out one attempt, and answers what it has come to. */
  async attempt(actor: Actor, prepared: Prepared, attempt: LiveAttempt): Promise<readonly EmailEvent[]> {
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
      this.warn({ err: error, actor: actor.id }, 'An attempt could not be prepared; it asks again.');
      return 'unknown';
    }
  }

  /** True when others come after a transport that is down. */
  #mayPassOver(first: Transport['name'], { fallbacks }: Sender): boolean {
    return this.order.isDown(first) && orderOf(first, fallbacks).length > 1;
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
      begin: async () => !(await this.#isHeld(message, attempt)) && attempt.mayLeave(recipient),
    };
    if (limits.deadlineMs <= 0) return undone('The copies before it took all the time there was');
    const sent = await this.#handOver(by, sender, outbound, limits, refuses);
    return sent && { recipient, ...sent };
  }

  /** A campaign may be paused, and a workspace archived, while an email waits for a connection. */
  async #isHeld(message: LiveMessage, attempt: LiveAttempt): Promise<boolean> {
    const isHeld = (await this.standing(message)) !== 'sends' || (await this.#isArchived(message));
    if (isHeld) attempt.hold();
    return isHeld;
  }

  /** While nobody can say, no attempt can begin either: beginning is written to the same database. */
  async #isArchived({ domain_id: id }: LiveMessage): Promise<boolean> {
    const sender = id === null ? null : await this.parts.senders.find(id).catch(() => null);
    return sender === 'archived';
  }

  /** How the campaign of an email stands. While nobody can say, nothing leaves: the email offers itself again. */
  async standing(email: Routing | null): Promise<Standing> {
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
      const { outcomes, ...last } = await this.order.send(provider, fallbacks, outbound, limits, refuses);
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
