import type { SigningKey } from '../../../transport/dkim/signing-key.ts';
import { returnPathFor } from '../../../transport/inbound/verp.ts';
import type { OutboundMessage, Transport, Unsubscribe } from '../../../transport/transport.ts';
import type { LiveMessage } from './reader.ts';
import type { Destination } from './return-token.ts';

/** What a verified domain sends with. */
export interface Sender {
  /** Every key signs. */
  readonly dkim: readonly SigningKey[];
  /** The host of the envelope sender: bounces come back to it. */
  readonly returnPath: string;
  /** Where its opens and clicks are counted; null for this service's own address. */
  readonly trackingHost: string | null;
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
  /** The way its mail leaves; null for the default one. */
  readonly provider: Transport['name'] | null;
}

/** The two parts that a person reads, and the way off the list if there is one. */
export interface Body {
  readonly text: string | null;
  readonly html: string | null;
  readonly unsubscribe: Unsubscribe | null;
}

/** What is done to the parts of each copy: links that know whose they are. */
export interface Personal {
  readonly destination: Destination;
  readonly workspaceId: string;
  readonly address: string;
  /** Without a slash at its end; null for this service's own address. */
  readonly host: string | null;
  readonly opens: boolean;
  readonly clicks: boolean;
  /** It goes to a list: it must offer a way off it, whether its text does or not. */
  readonly isBulk: boolean;
}

/** Writes the links of one copy into it. */
export type Personalise = (parts: Pick<Body, 'text' | 'html'>, personal: Personal) => Body;

/** The copy of one recipient, as it is handed to a transport. */
export interface Copy {
  readonly destination: Destination;
  readonly workspaceId: string;
  readonly address: string;
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly token: string;
}

/** What is the same of a copy wherever its links lead. */
const personalOf = (
  { campaign_id }: Pick<LiveMessage, 'campaign_id'>,
  { destination, workspaceId, address }: Pick<Copy, 'destination' | 'workspaceId' | 'address'>,
  { trackingHost }: Sender,
): Omit<Personal, 'opens' | 'clicks'> => ({
  destination,
  workspaceId,
  address,
  host: trackingHost,
  isBulk: (campaign_id ?? null) !== null,
});

/** Whether a copy offers its reader a way off a list: a link of ours, or the client's own (RFC 2369 3.2). */
export const offersExit = (
  message: Pick<LiveMessage, 'campaign_id' | 'envelope' | 'content'>,
  copy: Pick<Copy, 'destination' | 'workspaceId' | 'address'>,
  sender: Sender,
  personalise: Personalise,
): boolean => {
  if (message.envelope.headers.some(({ name }) => name.toLowerCase() === 'list-unsubscribe')) return true;
  const personal = { ...personalOf(message, copy, sender), opens: false, clicks: false };
  return personalise(message.content, personal).unsubscribe !== null;
};

/** Builds a copy. Only the way back, the links and the recipient differ between the copies of an email. */
export function outboundMessage(
  message: LiveMessage,
  copy: Copy,
  sender: Sender,
  personalise: Personalise,
): OutboundMessage {
  const { subject, envelope, content } = message;
  const { destination, address, attempt, acceptedAt, token } = copy;
  const { from, to, cc, bcc, replyTo, headers, attachments, messageId, trackOpens, trackClicks } = envelope;
  return {
    emailId: destination.emailId,
    attempt,
    from,
    to,
    cc,
    bcc,
    replyTo,
    recipients: [address],
    subject,
    headers,
    attachments: attachments.map(({ filename, contentType, contentId }, index) => ({
      filename,
      contentType,
      contentId,
      content: Buffer.from(content.attachments[index] ?? '', 'base64'),
    })),
    messageId,
    date: acceptedAt,
    returnPath: returnPathFor(token, sender.returnPath),
    dkim: sender.dkim,
    ...personalise(content, {
      ...personalOf(message, copy, sender),
      opens: trackOpens ?? sender.openTracking,
      clicks: trackClicks ?? sender.clickTracking,
    }),
  };
}
