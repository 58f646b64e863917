import type { EmailContext } from '../../../machines/email/context.ts';
import type { EmailState } from '../../../machines/email/machine.ts';
import { quotaExceeded, sendMeter } from '../../accounts/usage/queries.ts';
import type { Engine } from '../../engine/engine.ts';
import type { SpawnResultOf } from '../../engine/machine/result.ts';
import type { SpawnRequestOf } from '../../engine/runtime/spawn-queue.ts';
import type { Recollection } from '../../http/auth/recollection.ts';
import { claimOnce, idempotently } from '../../http/request/idempotent.ts';
import type { IdempotencyClaim, Replay } from '../../http/request/route.ts';
import type { SubmittedEnvelope } from '../../mail/submission/envelope.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId, timeOfId } from '../../platform/db/ids.ts';
import type { KeyedRequest, StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import type { Address } from '../../platform/text/address.ts';
import { isoOf, isoOrNull } from '../../platform/time/clock.ts';
import type { AttemptSchedule } from './accept/attempt-schedule.ts';
import { messageOf, spawnRequestOf } from './accept/email-insert.ts';
import {
  type CampaignReference,
  type Envelope,
  type FlowRecipient,
  messageIdOf,
  storedEnvelope,
} from './accept/message.ts';
import { isTaken, MESSAGE_ID_DAYS } from './accept/message-id-insert-rule.ts';
import { packContent } from './accept/packed-content.ts';
import {
  type EmailSender,
  type PreparationDeps,
  type PreparationRequest,
  prepare,
} from './accept/prepare.ts';
import { repliesTo } from './accept/reply-to.ts';
import { mayLieOutside, storedContent, tooLate } from './bodies/stored-content.ts';
import { namedClock, type StandingClock, type TestClocks } from './clocked/clock-of-email.ts';
import type { EmailReceipt } from './read/answer-model.ts';
import { namedScript } from './simulator/named-script.ts';

/** The services that accepting an email calls. */
export interface AcceptanceDeps extends PreparationDeps {
  readonly engine: Engine;
  readonly database: Database;
  /** The timing of live mail's attempts. */
  readonly liveSchedule: AttemptSchedule;
  /** Test sends a day; 0 is no limit. */
  readonly testSendsPerDay: number;
  readonly tracing?: Tracing | null;
  /** Signs the addresses for replies. */
  readonly signer: Signer;
  /** The store of large contents; null for the database. */
  readonly bodies: BodyStore | null;
  /** The clocks of test mail. Without them no email names one. */
  readonly testClocks: () => TestClocks | undefined;
}

/** One email to accept. */
export interface AcceptRequest extends PreparationRequest {
  readonly claim: IdempotencyClaim | null;
  /** The email's place in a call that sends several; its stored reply has it too. */
  readonly index?: number;
  /** The HTTP status that the stored reply has; 202 by default. */
  readonly status?: number;
  /** The test clock that makes it: it moves at that moment, and the email needs not ask it. */
  readonly clock?: StandingClock | null;
  /** Columns by which another module checks the insert (`Module.insertRules`), and may withhold it. */
  readonly onBehalf?: Readonly<Record<string, string>>;
  /**
   * The contact that it is for, where no request has asked for it: an act of that contact keeps it away until
   * it has left.
   */
  readonly flowRecipient?: FlowRecipient;
  /** The thread that it continues, where it answers a received message. */
  readonly threadId?: string;
  /** The envelope that an SMTP client gave. */
  readonly submitted?: SubmittedEnvelope;
}

/**
 * A receipt, a refusal with the paths that are wrong, or the receipt of an earlier request with the same
 * claim.
 */
export type Acceptance = EmailReceipt | Failure | Replay;

/**
 * Accepts an email. Once this answers a receipt, the email is durable and will reach a final state. It knows
 * nothing of HTTP, so that HTTP, SMTP and campaigns follow the same rules.
 * @throws UnavailableError
 */
export const acceptEmail = (deps: AcceptanceDeps, asked: AcceptRequest): Promise<Acceptance> => {
  const keyed = { scope: asked.sender, claim: asked.claim, now: asked.now };
  return idempotently(deps.database, keyed, { run: () => accept(deps, asked, keyed) });
};

async function accept(
  deps: AcceptanceDeps,
  asked: AcceptRequest,
  keyed: KeyedRequest,
  isFirst = true,
): Promise<EmailReceipt | Failure | StoredReply> {
  const { sender, index, now, status = 202 } = asked;
  // A clock learns of an email before its insert.
  if (sender.recollection && asked.body.testClockId !== undefined) return lookedUpFirst(sender.recollection);
  const clock = asked.clock ?? (await namedClock(deps.testClocks, sender, asked.body.testClockId));
  if (clock instanceof Failure) return clock;
  const script = namedScript(sender, asked.body, `${asked.at}/simulate`);
  if (script instanceof Failure) return script;
  const prepared = await prepare(deps, { ...asked, now: clock?.now ?? now, mayBeRemembered: isFirst });
  if (prepared instanceof Failure) return prepared;
  const { filled, domain, rendered, replyDomain } = prepared;

  const id = mintId('em', now);
  const replyTo = repliesTo(prepared.request.replyTo, replyDomain, id, sender, deps.signer);
  const request = replyDomain === null ? prepared.request : { ...prepared.request, replyTo };
  const claim = claimOnce(keyed, status, (state: EmailState, context: EmailContext) =>
    JSON.stringify({ index, ...receiptOf(id, state, context) }),
  );
  const { flowRecipient, threadId, submitted } = asked;
  const details = {
    id,
    now,
    domain,
    rendered,
    filled,
    claim,
    clock,
    script,
    flowRecipient,
    threadId,
    submitted,
  };
  const message = messageOf(request, details);
  if (sender.recollection && mayLieOutside(deps.bodies, message.envelope))
    return lookedUpFirst(sender.recollection);
  const packing = storedContent(deps, asked, id, message);
  const stored = packing instanceof Promise ? await packing : packing;
  if (stored instanceof Failure) return stored;
  const spawn = spawnRequestOf(deps, asked, request, details, message, stored);
  const spawned = await spawnBy(deps, asked, clock, spawn);
  if (spawned instanceof Failure) return spawned;
  if (spawned.outcome === 'overQuota') return quotaExceeded(sender.livemode);
  if (spawned.outcome === 'withheld' && sender.recollection) return lookedUpFirst(sender.recollection);
  if (spawned.outcome === 'withheld') {
    // The template may have changed since it was remembered, or this process stood still once the bodies were
    // written.
    const mayHaveChanged = (filled && filled.rememberedRevision !== null) || stored.judged !== null;
    if (isFirst && mayHaveChanged) return accept(deps, asked, keyed, false);
    const chosen = request.messageId?.id;
    if (chosen !== undefined && (await isTaken(deps.database, sender, chosen, now))) return takenId(chosen);
    if (stored.judged !== null && asked.onBehalf === undefined) throw tooLate();
    return WITHHELD;
  }
  if (spawned.outcome === 'replayed') return spawned;
  sender.recollection?.confirm();
  noteAccepted(deps, id, asked);
  return receiptOf(id, spawned.state, spawned.context);
}

/**
 * The request runs again after its sender was looked up: nothing is written for a key that may have been
 * revoked.
 */
function lookedUpFirst(recollection: Recollection): Failure {
  recollection.refute();
  return WITHHELD;
}

/**
 * The insert of an email, of which its test clock has learned before, so that no email is without its clock.
 */
async function spawnBy(
  { engine, testClocks }: AcceptanceDeps,
  { sender: { workspaceId }, clock: mover }: Pick<AcceptRequest, 'sender' | 'clock'>,
  clock: StandingClock | null,
  spawn: SpawnRequestOf<'email'>,
): Promise<SpawnResultOf<'email'> | Failure> {
  const clocks = testClocks();
  if (!clock || !clocks) return engine.spawn('email', spawn);
  const refused = await (mover
    ? clocks.admit(workspaceId, clock, { what: 'emails', count: 1 })
    : clocks.enter(workspaceId, clock));
  if (refused) return refused;
  const spawned = await engine.spawn('email', spawn);
  if (spawned.outcome !== 'spawned') await clocks.left(workspaceId, clock);
  // Advancing the clock finds it.
  else if (!mover) clocks.entered(workspaceId, clock);
  return spawned;
}

const noteAccepted = (
  { tracing }: AcceptanceDeps,
  id: string,
  {
    now,
    sender: { workspaceId, livemode },
  }: Pick<AcceptRequest, 'now'> & { sender: Pick<EmailSender, 'workspaceId' | 'livemode'> },
): void =>
  tracing?.accepted(id, now, { 'posthorn.workspace.id': workspaceId, 'posthorn.livemode': livemode });

/**
 * The refusal that acceptance would give now, whatever the quota; null for an email that is right. @throws
 * UnavailableError
 */
export async function refusalOf(deps: AcceptanceDeps, asked: AcceptRequest): Promise<Failure | null> {
  const prepared = await prepare(deps, asked);
  return prepared instanceof Failure ? prepared : null;
}

const takenId = (id: string): Failure =>
  new Failure('CONFLICT', `Another email of the last ${MESSAGE_ID_DAYS} days has the Message-ID ${id}.`, {
    suggestion:
      'Choose another messageId, or leave it out; a repeated request has an Idempotency-Key instead.',
  });

/** The answer where another module has withheld the insert (`Module.insertRules`). */
export const WITHHELD = new Failure('CONFLICT', 'What this email was for has been done.');

/** The receipt that clients get. */
export const receiptOf = (
  id: string,
  status: EmailState,
  { livemode, scheduledAt }: EmailContext,
): EmailReceipt => ({
  id,
  livemode,
  status,
  scheduledAt: isoOrNull(scheduledAt),
  createdAt: isoOf(timeOfId(id)),
});

/** The common part of the emails of a campaign. */
export interface CampaignMessage {
  readonly campaignId: string;
  /** The turn of work that gives them out; those of a turn that was given up are withheld. */
  readonly turn: number;
  readonly domainId: string;
  readonly templateId: string | null;
  readonly from: Address;
  readonly replyTo: readonly Address[];
  /** The domain of the reply addresses; null where it asks for none. */
  readonly replyDomain: string | null;
  /** For recipients without a separate one. */
  readonly subject: string;
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
  /** Estimated octets of a message. */
  readonly size: number;
}

/** A recipient in the frozen audience of a campaign. */
export interface CampaignRecipient {
  readonly contactId: string;
  readonly address: Address;
  /** The values that the content uses of this contact. */
  readonly contact: Readonly<Record<string, unknown>>;
  /** The language that is chosen for this person; null where none is known. */
  readonly language: string | null;
  /** The subject as this person gets it; null where it is the common one, or is made with the rest. */
  readonly subject: string | null;
}

/**
 * Accepts the email of one recipient of a campaign in the statement that marks the recipient, and takes its
 * unit of quota there; `withheld`: another instance has accepted it, or the campaign does not send any more.
 * `nextAt`: when the next one may follow (epoch milliseconds), where a rate is set. `isLeft`: whichever
 * instance has room sends it. Those that are asked for together are written together. @throws
 * UnavailableError
 */
export async function acceptForCampaign(
  deps: AcceptanceDeps,
  sender: Omit<EmailSender, 'senderDefaults'>,
  {
    campaignId,
    turn,
    domainId,
    templateId,
    from,
    replyTo,
    replyDomain,
    subject: common,
    size,
    ...tracked
  }: CampaignMessage,
  { contactId, address, contact, language, subject }: CampaignRecipient,
  { now, nextAt, isLeft }: { readonly now: number; readonly nextAt: number | null; readonly isLeft: boolean },
): Promise<'spawned' | 'withheld' | 'overQuota'> {
  const { engine, liveSchedule, testSendsPerDay, signer } = deps;
  const id = mintId('em', now);
  const replies = repliesTo(replyTo, replyDomain, id, sender, signer);
  const bare = ({ name, address }: Address) => ({ name, address });
  const campaign: CampaignReference = subject === null ? { contact } : { contact, hasSubject: true };
  const message = {
    recipients: [address.address],
    recipient_keys: [address.key],
    domain_id: domainId,
    template_id: templateId,
    campaign_id: campaignId,
    sender_key: from.key,
    subject: subject ?? common,
    tags: [],
    envelope: {
      from: bare(from),
      to: [bare(address)],
      cc: [],
      bcc: [],
      replyTo: replies.map(bare),
      headers: [],
      tags: [],
      attachments: [],
      ...tracked,
      ...(language !== null && { language }),
      messageId: messageIdOf(id, from.domain),
      size,
    } satisfies Envelope,
    content: { text: null, html: null, markdown: null, attachments: [], campaign },
  };
  const content = await packContent(message.content);
  const spawned = await engine.spawn('email', {
    id,
    workspaceId: sender.workspaceId,
    livemode: sender.livemode,
    input: {
      at: now,
      livemode: sender.livemode,
      scheduledAt: null,
      admitted: engine.hasRoom('email'),
      ...liveSchedule,
      recipients: [{ simulate: null }],
    },
    columns: {
      ...message,
      envelope: storedEnvelope(id, message.envelope),
      content,
      campaign_contact_id: contactId,
      campaign_turn: turn,
      campaign_next_at: nextAt === null ? null : new Date(nextAt).toISOString(),
    },
    meter: sendMeter(sender.livemode, sender.plan, testSendsPerDay, now),
    ...(!isLeft && JSON.stringify(contact).length <= LARGEST_BULK_PAYLOAD ? { payload: message } : {}),
    bytes: content.length + 1_024,
    isBulk: true,
    isLeft,
  });
  if (spawned.outcome === 'replayed') throw new Error('No email of a campaign has an idempotency key.');
  if (spawned.outcome === 'spawned') noteAccepted(deps, id, { now, sender });
  return spawned.outcome;
}

/** Characters of a contact that stays there: four thousand emails of campaigns may wait. */
const LARGEST_BULK_PAYLOAD = 8_192;
