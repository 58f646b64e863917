import type { WithheldReason } from '../../../../machines/email/recipient.ts';
import type { Actor } from '../../../engine/machine/kind.ts';
import { BodyLost } from '../../../platform/bodies/body-store.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { type CampaignMail, type CampaignSendState, isOfCampaign } from '../campaign-mail.ts';
import type { SenderProblem, Senders } from '../transports/senders.ts';
import type { Sender } from './message.ts';
import type { LiveMessage, LiveReader, MessageWithoutContent, Withholding } from './reader.ts';
import type { SubjectWriter } from './subject-writer.ts';

/** The services that an attempt is prepared with. */
export interface PreparingParts {
  readonly reader: LiveReader;
  readonly senders: Senders;
  /** Stores subjects that are made when their emails leave. */
  readonly subjects: SubjectWriter;
  /** Renders emails of campaigns. */
  readonly campaigns: () => CampaignMail | undefined;
  /** True for an address that a workspace may forward to. @throws UnavailableError */
  mayForward(
    owner: { readonly workspaceId: string; readonly livemode: boolean },
    address: Address,
  ): Promise<boolean>;
}

/** A target that a forward may not go to any more. */
const REMOVED: Withholding = { act: 'removed', isOfLists: false };

/** A message as it was found: a large one without its content. */
export type LoadedMessage = LiveMessage | MessageWithoutContent;

/** Everything that an attempt takes. */
export interface AttemptInput {
  /** Null when retention has taken it. */
  readonly message: LiveMessage | null;
  readonly sender: Sender | SenderProblem;
  readonly suppressed: ReadonlyMap<string, Withholding>;
  /** Why the recipient of a campaign or of a flow gets nothing any more; null for every other email. */
  readonly skipped: WithheldReason | null;
  /** Why the email of a campaign cannot be made for its recipient. */
  readonly unmade?: string;
  /** The missing part of its content. */
  readonly lost?: BodyLost;
}

type CampaignContent = Parameters<CampaignMail['parts']>[1];

const NOTHING_LEFT: AttemptInput = { message: null, sender: 'removed', suppressed: new Map(), skipped: null };

/**
 * Reads what an attempt takes. What a campaign has given out and a server has put off does not leave once it
 * has ended. @throws UnavailableError
 */
export async function prepare(
  parts: PreparingParts,
  actor: Actor,
  message: LoadedMessage | null,
  standing: Exclude<CampaignSendState, 'held'>,
): Promise<AttemptInput> {
  const { reader, senders } = parts;
  const { id, workspaceId } = actor;
  if (!message) return NOTHING_LEFT;
  const content = message.content ?? (await reader.content({ id, workspaceId }).catch(lost));
  if (content === null) return NOTHING_LEFT;
  if (content instanceof BodyLost) return { ...NOTHING_LEFT, lost: content };
  // Its author is forgotten meanwhile.
  if (message.envelope.forwardedFrom !== undefined && !content.raw) return NOTHING_LEFT;
  const whole = { ...message, content };
  const [sender, suppressed, made] = await Promise.all([
    senders.ofEmail(message),
    withholdings(parts, actor, message),
    standing === 'ended'
      ? { message: whole, skipped: 'cancelled' as const }
      : isOfCampaign(content)
        ? madeFor(parts, id, workspaceId, { ...whole, content })
        : { message: whole, skipped: await reasonToSkip(parts, { id, workspaceId }, whole) },
  ]);
  return { ...made, sender, suppressed };
}

/**
 * The recipients (by key) who get no copy, as it is now. A forward that was put off asks again: who has left
 * the workspace meanwhile gets nothing. @throws UnavailableError
 */
export async function withholdings(
  { reader, mayForward }: Pick<PreparingParts, 'reader' | 'mayForward'>,
  { workspaceId, livemode }: Pick<Actor, 'workspaceId' | 'livemode'>,
  { envelope, recipients, recipient_keys: keys }: Omit<LiveMessage, 'content'>,
): Promise<ReadonlyMap<string, Withholding>> {
  const suppressed = reader.withholdings(workspaceId, keys);
  if (envelope.forwardedFrom === undefined) return suppressed;
  const barred = recipients.map(async (recipient, index): Promise<[string, Withholding][]> => {
    const address = parseAddress(recipient);
    const isKnown = !isProblem(address) && (await mayForward({ workspaceId, livemode }, address));
    return isKnown ? [] : [[keys[index] ?? '', REMOVED]];
  });
  const [those, ...others] = await Promise.all([suppressed, ...barred]);
  return new Map([...those, ...others.flat()]);
}

/**
 * Why the recipient of a campaign or of a flow gets nothing any more, as it is now; null for every other
 * email. @throws UnavailableError
 */
export async function reasonToSkip(
  { reader, campaigns }: Pick<PreparingParts, 'reader' | 'campaigns'>,
  { id: emailId, workspaceId }: Pick<Actor, 'id' | 'workspaceId'>,
  message: Omit<LiveMessage, 'content'>,
): Promise<WithheldReason | null> {
  const { contactId, audienceId } = message.envelope;
  const { campaign_id: campaignId, recipient_keys: recipientKeys } = message;
  // The email of a flow is for a contact, as a campaign's is.
  if (!campaignId)
    return contactId === undefined ? null : reader.actOf({ workspaceId, contactId, audienceId });
  const [recipientKey = ''] = recipientKeys;
  const leave = await campaigns()?.mayLeave({ emailId, campaignId, workspaceId, recipientKey });
  return leave === undefined || leave === 'now' ? null : leave.skipped;
}

const lost = (error: unknown): BodyLost => {
  if (error instanceof BodyLost) return error;
  throw error;
};

/** The email of a campaign as it is for its recipient. */
async function madeFor(
  preparing: PreparingParts,
  emailId: string,
  workspaceId: string,
  message: LiveMessage & { readonly content: CampaignContent },
): Promise<Omit<AttemptInput, 'sender' | 'suppressed'>> {
  const { subjects } = preparing;
  const campaigns = preparing.campaigns();
  const { campaign_id: campaignId, content } = message;
  if (!campaigns || !campaignId) return { message: null, skipped: null };
  const [recipientKey = ''] = message.recipient_keys;
  const email = { emailId, campaignId, workspaceId, recipientKey, subject: message.subject };
  const [skipped, parts] = await Promise.all([
    reasonToSkip(preparing, { id: emailId, workspaceId }, message),
    campaigns.parts(email, content, 'send'),
  ]);
  // Before it leaves, so that lists and searches have every email that a recipient has got.
  const shown = typeof parts === 'object' ? parts?.shownSubject : undefined;
  if (shown !== undefined && shown !== message.subject)
    await subjects.keep({ emailId, workspaceId, subject: shown });
  if (skipped !== null) return { message, skipped };
  if (!parts) return { message: null, skipped: null };
  if (typeof parts === 'string') return { message, skipped: null, unmade: parts };
  const { subject, html, text, headers, audienceId } = parts;
  const envelope = { ...message.envelope, headers: [...headers, ...message.envelope.headers] };
  return {
    message: {
      ...message,
      subject: subject ?? message.subject,
      envelope,
      content: { ...content, html, text },
      audience_id: audienceId,
    },
    skipped: null,
  };
}
