import type { WithheldReason } from '../../../../machines/email/recipient.ts';
import type { SuppressionReason } from '../../../../machines/email/rules.ts';
import type { Actor } from '../../../engine/machine/kind.ts';
import { BodyLost } from '../../../platform/bodies/body-store.ts';
import { type CampaignMail, isOfCampaign, type Standing } from '../campaign-mail.ts';
import type { SenderProblem, Senders } from '../transports/senders.ts';
import type { Sender } from './message.ts';
import type { LiveMessage, LiveReader, MessageWithoutContent } from './reader.ts';
import type { SubjectWriter } from './subject-writer.ts';

/** The services that an attempt is prepared with. */
export interface PreparingParts {
  readonly reader: LiveReader;
  readonly senders: Senders;
  /** Stores subjects that are made when their emails leave. */
  readonly subjects: SubjectWriter;
  /** How emails of campaigns are made. */
  readonly campaigns: () => CampaignMail | undefined;
}

/** A message as it was found: a large one without its content. */
export type Found = LiveMessage | MessageWithoutContent;

/** Everything that an attempt takes. */
export interface Prepared {
  /** Null when retention has taken it. */
  readonly message: LiveMessage | null;
  readonly sender: Sender | SenderProblem;
  readonly suppressed: ReadonlyMap<string, SuppressionReason>;
  /** Why the recipient of a campaign or of a flow gets nothing any more; null for every other email. */
  readonly skipped: WithheldReason | null;
  /** Why the email of a campaign cannot be made for its recipient. */
  readonly unmade?: string;
  /** What of its content is not where it lay. */
  readonly lost?: BodyLost;
}

type CampaignContent = Parameters<CampaignMail['parts']>[1];

const NOTHING_LEFT: Prepared = { message: null, sender: 'removed', suppressed: new Map(), skipped: null };

/** Reads what an attempt takes. What a campaign has given out and a server has put off does not leave once it has ended. @throws Unavailable */
export async function prepare(
  parts: PreparingParts,
  { id, workspaceId }: Actor,
  message: Found | null,
  standing: Exclude<Standing, 'held'>,
): Promise<Prepared> {
  const { reader, senders } = parts;
  if (!message) return NOTHING_LEFT;
  const content = message.content ?? (await reader.content({ id, workspaceId }).catch(lost));
  if (content === null) return NOTHING_LEFT;
  if (content instanceof BodyLost) return { ...NOTHING_LEFT, lost: content };
  const whole = { ...message, content };
  const [sender, suppressed, made] = await Promise.all([
    senders.ofEmail(message),
    reader.suppressions(workspaceId, message.recipient_keys),
    standing === 'ended'
      ? { message: whole, skipped: 'cancelled' as const }
      : isOfCampaign(content)
        ? madeFor(parts, id, workspaceId, { ...whole, content })
        : { message: whole, skipped: await actOf(reader, workspaceId, whole) },
  ]);
  return { ...made, sender, suppressed };
}

/** Of the email of a flow, which is for a contact, as a campaign's is. */
const actOf = (
  reader: LiveReader,
  workspaceId: string,
  { envelope: { contactId } }: Pick<LiveMessage, 'envelope'>,
): Promise<WithheldReason | null> | null =>
  contactId === undefined ? null : reader.actOf({ workspaceId, contactId });

const lost = (error: unknown): BodyLost => {
  if (error instanceof BodyLost) return error;
  throw error;
};

/** The email of a campaign as it is for its recipient. */
async function madeFor(
  { campaigns: find, subjects }: PreparingParts,
  emailId: string,
  workspaceId: string,
  message: LiveMessage & { readonly content: CampaignContent },
): Promise<Omit<Prepared, 'sender' | 'suppressed'>> {
  const campaigns = find();
  const { campaign_id: campaignId, content } = message;
  if (!campaigns || !campaignId) return { message: null, skipped: null };
  const [recipientKey = ''] = message.recipient_keys;
  const email = { emailId, campaignId, workspaceId, recipientKey, subject: message.subject };
  const [leave, parts] = await Promise.all([
    campaigns.mayLeave(email),
    campaigns.parts(email, content, 'send'),
  ]);
  // Before it leaves, so that lists and searches never lack what somebody has got.
  const shown = typeof parts === 'object' ? parts?.shownSubject : undefined;
  if (shown !== undefined && shown !== message.subject)
    await subjects.keep({ emailId, workspaceId, subject: shown });
  if (leave !== 'now') return { message, skipped: leave.skipped };
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
