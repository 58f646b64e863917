import type { EmailContext } from '../../../../machines/email/context.ts';
import { dateOf } from '../../../../machines/email/rules.ts';
import { finishMessage } from '../../../mail/compose/finish.ts';
import type { OwnedId } from '../../../platform/async/batched-read.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import { withShownLinks, withShownParts } from '../../tracking/api.ts';
import { type CampaignMail, isOfCampaign } from '../campaign-mail.ts';
import { outboundMessage, type Personalise, type Sender } from '../send/message.ts';
import type { LiveMessage, LiveReader } from '../send/reader.ts';
import type { Senders } from '../transports/senders.ts';

/** The services that make a message again. */
export interface LeftParts {
  readonly reader: Pick<LiveReader, 'message' | 'content'>;
  readonly senders: Pick<Senders, 'ofEmail'>;
  readonly campaigns: () => CampaignMail | undefined;
  /** Makes links that lead nowhere: who is shown a message must not act for its recipient. */
  readonly personalise: Personalise;
  readonly now: () => number;
}

/** An email, and the environment that it is in. */
interface OwnedEmail extends OwnedId {
  readonly livemode: boolean;
}

/** The message of an email as it leaves or has left for one recipient; null once its content is gone. */
export type LeftMessage = (
  email: OwnedEmail,
  context: EmailContext,
  recipient: number,
) => Promise<Buffer | null>;

/** Of test mail, and of a domain that is gone: nothing signs. */
const UNSIGNED: Sender = {
  domainId: '',
  dkim: [],
  returnPath: 'localhost',
  receives: false,
  trackingHost: null,
  provider: null,
  openTracking: false,
  clickTracking: false,
  fallbacks: [],
  warmUps: [],
};

/** Messages that are made at once: each may have 25 MiB, and as many again when it is signed. */
const AT_ONCE = 2;

/**
 * Makes messages again as they leave: their dates, boundaries and signatures are the same each time. @throws
 * BodyLost, UnavailableError
 */
export function leftMessages({ reader, senders, campaigns, personalise, now }: LeftParts): LeftMessage {
  const slots = new Semaphore(AT_ONCE);
  return (email, context, recipient) => slots.run(() => make(email, context, recipient));

  async function make(email: OwnedEmail, context: EmailContext, recipient: number): Promise<Buffer | null> {
    const found = await reader.message(email);
    const content = found && (found.content ?? (await reader.content(email)));
    if (!found || !content) return null;
    const whole = await wholeOf(email, { ...found, content });
    const message = email.livemode ? withoutPages(whole) : whole;
    const sender = await senders.ofEmail(message);
    const copy = {
      destination: { emailId: email.id, recipient },
      workspaceId: email.workspaceId,
      // The envelope is not shown.
      address: message.recipients[recipient] ?? '',
      attempt: 1,
      token: 'shown',
      date: dateOf(context, now()),
    };
    return finishMessage(
      outboundMessage(message, copy, typeof sender === 'string' ? UNSIGNED : sender, personalise),
    );
  }

  /** The email of a campaign as it is for its recipient. */
  async function wholeOf({ id: emailId, workspaceId }: OwnedId, message: LiveMessage): Promise<LiveMessage> {
    const { campaign_id: campaignId, content, envelope } = message;
    if (!isOfCampaign(content) || !campaignId) return message;
    const [recipientKey = ''] = message.recipient_keys;
    const email = { emailId, campaignId, workspaceId, recipientKey, subject: message.subject };
    const parts = await campaigns()?.parts(email, content, 'show');
    if (!parts || typeof parts === 'string') return message;
    const { subject, html, text, headers, audienceId } = parts;
    return {
      ...message,
      subject: subject ?? message.subject,
      envelope: { ...envelope, headers: [...headers, ...envelope.headers] },
      content: { ...content, html, text },
      audience_id: audienceId,
    };
  }
}

const withoutPages = (message: LiveMessage): LiveMessage => ({
  ...message,
  subject: withShownLinks(message.subject),
  content: withShownParts(message.content),
});
