import type { EmailState } from '../../../machines/email.ts';
import type { EmailContext, EmailInput } from '../../../machines/email-context.ts';
import type { PlanName } from '../../auth/plans.ts';
import type { SenderDefaults } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import { mintId, timeOfId } from '../../db/ids.ts';
import type { Keyed, StoredReply } from '../../db/stored-replies.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ClaimOf } from '../../engine/result.ts';
import type { SpawnRequestOf } from '../../engine/spawn-queue.ts';
import { Failure } from '../../http/failure.ts';
import { claimOnce, idempotently } from '../../http/idempotent.ts';
import type { IdempotencyClaim, Replay } from '../../http/route.ts';
import type { Address } from '../../mail/address.ts';
import { isoOf, isoOrNull } from '../../time/clock.ts';
import { quotaExceeded, sendMeter } from '../usage/queries.ts';
import { type AttemptSchedule, SIMULATED_SCHEDULE } from './accept/attempt-schedule.ts';
import { type Envelope, type RenderedMarkdown, storedEnvelope, storedMessage } from './accept/message.ts';
import { packContent } from './accept/packed-content.ts';
import { readSendRequest, type SendRequest } from './accept/request.ts';
import type { SendBody } from './accept/request-model.ts';
import {
  type Circumstances,
  type FilledRequest,
  type FillTemplate,
  fillRequest,
} from './accept/templated.ts';
import type { EmailReceipt } from './read/answer-model.ts';
import { simulatedOutcome } from './simulator/simulated-addresses.ts';

/** A domain that may send now. */
export interface SendingDomain {
  readonly id: string;
}

/** The services that accepting an email calls. */
export interface AcceptanceDeps {
  readonly engine: Engine;
  readonly database: Database;
  readonly simulatorDomain: string;
  /** The timing of live mail's attempts. */
  readonly liveSchedule: AttemptSchedule;
  /** Test sends a day; 0 is no limit. */
  readonly testSendsPerDay: number;
  /** The verified domain of a workspace with that name (lower-case ASCII); null when there is none. */
  findSendingDomain(workspaceId: string, name: string): Promise<SendingDomain | null>;
  /** Renders a template with the values of a request. */
  readonly fillTemplate: FillTemplate;
  /** `path` is the JSON pointer of the markdown in the request. */
  renderMarkdown(markdown: string, title: string, path: string): Promise<RenderedMarkdown | Failure>;
}

/** The workspace and environment that an email is accepted for, whichever way the request came: HTTP, SMTP, a campaign. */
export interface EmailSender {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly plan: PlanName;
  /** Absent for a sender whose emails always name theirs. */
  readonly senderDefaults?: SenderDefaults;
}

/** One email to accept. */
export interface AcceptRequest {
  readonly sender: EmailSender;
  /** Already checked against the schema. */
  readonly body: SendBody;
  readonly claim: IdempotencyClaim | null;
  /** The email's place in a call that sends several; its stored reply has it too. */
  readonly index?: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** JSON pointer of the body, the prefix of every reported path: `/body`, `/body/emails/3`. */
  readonly at: string;
  /** The version of its template; the one that is sent by default. */
  readonly templateVersion?: number;
  /** What stands before the subject that the template makes. */
  readonly subjectPrefix?: string;
  /** What its template sees besides the variables of the body. */
  readonly circumstances?: Circumstances;
  /** The HTTP status that the stored reply has; 202 by default. */
  readonly status?: number;
  /** Columns by which another module judges its birth (`Module.births`), and may withhold it. */
  readonly onBehalf?: Readonly<Record<string, string>>;
}

/** A receipt, a refusal with the paths that are wrong, or the receipt of an earlier request with the same claim. */
export type Acceptance = EmailReceipt | Failure | Replay;

/**
 * Accepts an email. Once this answers a receipt, the email is durable and will reach a final state. It knows nothing of HTTP, so
 * that HTTP, SMTP and campaigns follow the same rules.
 * @throws Unavailable
 */
export const acceptEmail = (deps: AcceptanceDeps, asked: AcceptRequest): Promise<Acceptance> => {
  const keyed = { scope: asked.sender, claim: asked.claim, now: asked.now };
  return idempotently(deps.database, keyed, { run: () => accept(deps, asked, keyed) });
};

async function accept(
  deps: AcceptanceDeps,
  asked: AcceptRequest,
  keyed: Keyed,
): Promise<EmailReceipt | Failure | StoredReply> {
  const { sender, body, index, now, at, status = 202 } = asked;
  const { senderDefaults: defaults } = sender;
  const read = readSendRequest(body, { now, simulatorDomain: deps.simulatorDomain, at, defaults });
  if (read instanceof Failure) return read;
  const filled = read.template ? await fillRequest(deps.fillTemplate, read, asked) : null;
  if (filled instanceof Failure) return filled;
  const request = filled?.request ?? read;
  const domain = sender.livemode
    ? await deps.findSendingDomain(sender.workspaceId, request.from.domain)
    : null;
  if (sender.livemode && !domain) return UNVERIFIED;
  const rendered =
    request.markdown === null
      ? null
      : await deps.renderMarkdown(request.markdown, request.subject ?? '', `${at}/markdown`);
  if (rendered instanceof Failure) return rendered;

  const id = mintId('em', now);
  const claim = claimOnce(keyed, status, (state: EmailState, context: EmailContext) =>
    JSON.stringify({ index, ...receiptOf(id, state, context) }),
  );
  const details = { id, now, domain, rendered, filled, claim };
  const message = messageOf(request, details);
  const packing = packContent(message.content);
  const content = packing instanceof Promise ? await packing : packing;
  const spawn = spawnRequestOf(deps, asked, request, details, message, content);
  const spawned = await deps.engine.spawn('email', spawn);
  if (spawned.outcome === 'overQuota') return quotaExceeded(sender.livemode);
  if (spawned.outcome === 'withheld') return WITHHELD;
  if (spawned.outcome === 'replayed') return spawned;
  return receiptOf(id, spawned.state, spawned.context);
}

const UNVERIFIED = new Failure('FORBIDDEN', 'The domain of the sender is not verified in this workspace.', {
  suggestion:
    'Add the domain of the from address with POST /v1/domains, set its DNS records and verify it; or use a test key, which accepts any sender.',
});

const WITHHELD = new Failure('CONFLICT', 'What this email was for has been done.');

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

/** What the emails of a campaign have in common. */
export interface CampaignMessage {
  readonly campaignId: string;
  /** The turn of work that gives them out; those of a turn that was given up are withheld. */
  readonly turn: number;
  readonly domainId: string;
  readonly templateId: string | null;
  readonly from: Address;
  readonly replyTo: readonly Address[];
  /** As it is shown in lists; a subject that differs by recipient is rendered with the rest. */
  readonly subject: string;
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
  /** Estimated octets of a message. */
  readonly size: number;
}

/** Somebody in the frozen audience of a campaign. */
export interface CampaignRecipient {
  readonly contactId: string;
  readonly address: Address;
  /** The values that the content uses of this contact. */
  readonly contact: Readonly<Record<string, unknown>>;
}

/**
 * Accepts the email of one recipient of a campaign in the statement that marks the recipient, and takes its unit of quota there;
 * `withheld`: somebody else has given it out, or the campaign does not send any more. `nextAt`: when the next one may follow
 * (epoch milliseconds), where a rate is set. Those that are asked for together are written together. @throws Unavailable
 */
export async function acceptForCampaign(
  { engine, liveSchedule, testSendsPerDay }: AcceptanceDeps,
  sender: Omit<EmailSender, 'senderDefaults'>,
  { campaignId, turn, domainId, templateId, from, replyTo, subject, size, ...tracked }: CampaignMessage,
  { contactId, address, contact }: CampaignRecipient,
  { now, nextAt }: { readonly now: number; readonly nextAt: number | null },
): Promise<'spawned' | 'withheld' | 'overQuota'> {
  const id = mintId('em', now);
  const bare = ({ name, address }: Address) => ({ name, address });
  const message = {
    recipients: [address.address],
    recipient_keys: [address.key],
    domain_id: domainId,
    template_id: templateId,
    campaign_id: campaignId,
    sender_key: from.key,
    subject,
    tags: [],
    envelope: {
      ...{ from: bare(from), to: [bare(address)], cc: [], bcc: [], replyTo: replyTo.map(bare) },
      ...{ headers: [], tags: [], attachments: [], ...tracked },
      messageId: `<${id}@${from.domain}>`,
      size,
    } satisfies Envelope,
    content: { text: null, html: null, markdown: null, attachments: [], campaign: { contact } },
  };
  const content = await packContent(message.content);
  const spawned = await engine.spawn('email', {
    ...{ id, workspaceId: sender.workspaceId, livemode: sender.livemode },
    input: {
      ...{ at: now, livemode: sender.livemode, scheduledAt: null, admitted: engine.hasRoom('email') },
      ...liveSchedule,
      recipients: [{ simulate: null }],
    },
    columns: {
      ...message,
      envelope: storedEnvelope(message.envelope),
      content,
      campaign_contact_id: contactId,
      campaign_turn: turn,
      campaign_next_at: nextAt === null ? null : new Date(nextAt).toISOString(),
    },
    meter: sendMeter(sender.livemode, sender.plan, testSendsPerDay, now),
    ...(JSON.stringify(contact).length <= LARGEST_BULK_PAYLOAD ? { payload: message } : {}),
    bytes: content.length + 1_024,
  });
  if (spawned.outcome === 'replayed') throw new Error('No email of a campaign has an idempotency key.');
  return spawned.outcome;
}

/** Octets of a message that stays in memory from its acceptance to its first attempt. */
const LARGEST_PAYLOAD = 65_536;
/** Characters of a contact that stays there: four thousand emails of campaigns may wait. */
const LARGEST_BULK_PAYLOAD = 8_192;

interface Details {
  readonly id: string;
  readonly now: number;
  readonly domain: SendingDomain | null;
  readonly rendered: RenderedMarkdown | null;
  readonly filled: FilledRequest | null;
  readonly claim: ClaimOf<'email'> | undefined;
}

const recipientsOf = ({ to, cc, bcc }: SendRequest): readonly Address[] =>
  cc.length + bcc.length === 0 ? to : [...to, ...cc, ...bcc];

/** The columns that a message fills, with its envelope and its content as they are. */
const messageOf = (request: SendRequest, { id, domain, rendered, filled }: Details) => ({
  recipients: recipientsOf(request).map(({ address }) => address),
  recipient_keys: recipientsOf(request).map(({ key }) => key),
  domain_id: domain?.id ?? null,
  template_id: filled?.templateId ?? null,
  ...storedMessage(id, request, rendered, filled?.used ?? null),
});

function spawnRequestOf(
  { engine, simulatorDomain, testSendsPerDay, liveSchedule }: AcceptanceDeps,
  { sender, onBehalf }: AcceptRequest,
  request: SendRequest,
  { id, now, claim }: Details,
  message: ReturnType<typeof messageOf>,
  content: string,
): SpawnRequestOf<'email'> {
  const { livemode } = sender;
  const input: EmailInput = {
    at: now,
    livemode,
    scheduledAt: request.scheduledAt,
    admitted: engine.hasRoom('email'),
    ...(livemode ? liveSchedule : SIMULATED_SCHEDULE),
    recipients: recipientsOf(request).map((recipient) => ({
      simulate: livemode ? null : simulatedOutcome(recipient, simulatorDomain),
    })),
  };
  return {
    id,
    workspaceId: sender.workspaceId,
    livemode,
    input,
    columns: { ...message, envelope: storedEnvelope(message.envelope), content, ...onBehalf },
    meter: sendMeter(livemode, sender.plan, testSendsPerDay, now),
    claim,
    // Emails that wait for a slot must not fill the memory; a larger message is read when its attempt begins.
    ...(livemode && request.size <= LARGEST_PAYLOAD ? { payload: message } : {}),
    bytes: content.length + 1_024,
  };
}
