import type { SigningKey } from '../../../mail/dkim/signing-key.ts';
import { returnPathFor, srsPathFor } from '../../../mail/inbound/verp.ts';
import type { OutboundMessage, Transport, Unsubscribe } from '../../../mail/transport/transport.ts';
import type { WarmUp } from '../../../mail/transport/warm-up.ts';
import { copyChanges, forwardedParts, rawOctets, rawOffersExit } from '../raw/raw-message.ts';
import type { LiveMessage } from './reader.ts';
import type { Destination } from './return-token.ts';

/** The settings that a verified domain sends with. */
export interface Sender {
  /** The domain that it sends for: that of the email, or the one that has taken its place. */
  readonly domainId: string;
  /** The message gets a signature of every key. */
  readonly dkim: readonly SigningKey[];
  /** The host of the envelope sender, which bounces come back to. */
  readonly returnPath: string;
  /** True where mail to that host comes to this service. */
  readonly receives: boolean;
  /** The host that counts its opens and clicks; null for this service's own address. */
  readonly trackingHost: string | null;
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
  /** The transport of its mail; null for the default one. */
  readonly provider: Transport['name'] | null;
  /** The enabled transports that take over while that one is down, in this order. */
  readonly fallbacks: readonly Transport['name'][];
  /** The warm-up of its mail, for each transport that has one. */
  readonly warmUps: readonly WarmUp[];
}

/** The two parts that a person reads, and the unsubscribe link if there is one. */
export interface Body {
  readonly text: string | null;
  readonly html: string | null;
  readonly unsubscribe: Unsubscribe | null;
}

/** The recipient that a copy's links are made for, and what they count. */
export interface Personalisation {
  readonly destination: Destination;
  readonly workspaceId: string;
  readonly address: string;
  /** Without a slash at its end; null for this service's own address. */
  readonly host: string | null;
  readonly opens: boolean;
  readonly clicks: boolean;
  /** The language of the email; absent where none is known. */
  readonly language?: string | undefined;
  /** The host of the address whose mail unsubscribes the recipient; null where none comes in. */
  readonly leaveHost: string | null;
  /**
   * The list that it goes to, which the link to unsubscribe leaves: it must offer one even when its text does
   * not. Null for none.
   */
  readonly list: { readonly campaignId: string; readonly audienceId: string } | null;
}

/** Writes the links of one copy into it. */
export type Personalise = (parts: Pick<Body, 'text' | 'html'>, personal: Personalisation) => Body;

/** The copy of one recipient, as it is handed to a transport. */
export interface Copy {
  readonly destination: Destination;
  readonly workspaceId: string;
  readonly address: string;
  readonly attempt: number;
  /** The time of its Date field, in epoch milliseconds: the same in every attempt. */
  readonly date: number;
  readonly token: string;
}

/** The part of `Personalisation` that does not depend on tracking. */
const personalOf = (
  {
    campaign_id: campaignId,
    audience_id: audienceId,
    envelope: { language },
  }: Pick<LiveMessage, 'campaign_id' | 'audience_id' | 'envelope'>,
  { destination, workspaceId, address }: Pick<Copy, 'destination' | 'workspaceId' | 'address'>,
  { trackingHost }: Sender,
): Omit<Personalisation, 'opens' | 'clicks' | 'leaveHost'> => ({
  destination,
  workspaceId,
  address,
  host: trackingHost,
  language,
  list: campaignId && audienceId ? { campaignId, audienceId } : null,
});

/**
 * True when a copy offers to unsubscribe: by a link of ours, or by the client's own header (RFC 2369 3.2).
 */
export const offersExit = (
  message: Pick<LiveMessage, 'campaign_id' | 'audience_id' | 'envelope' | 'content'>,
  copy: Pick<Copy, 'destination' | 'workspaceId' | 'address'>,
  sender: Sender,
  personalise: Personalise,
): boolean => {
  // The mailbox behind a forward is on no list of ours.
  if (message.envelope.forwardedFrom !== undefined) return false;
  const { raw } = message.content;
  const headers = raw ? raw.index.headers : message.envelope.headers;
  if (headers.some(({ name }) => name.toLowerCase() === 'list-unsubscribe')) return true;
  if (raw) return rawOffersExit(raw);
  const personal = { ...personalOf(message, copy, sender), opens: false, clicks: false, leaveHost: null };
  return personalise(message.content, personal).unsubscribe !== null;
};

/** Builds a copy. Only the return path, the links and the recipient differ between the copies of an email. */
export const outboundMessage = (
  message: LiveMessage,
  copy: Copy,
  sender: Sender,
  personalise: Personalise,
): OutboundMessage => {
  const { raw } = message.content;
  const outbound = unwritten(message, copy, sender);
  if (raw?.index.forward) return { ...outbound, dkim: [], ...forwardedParts(raw, outbound) };
  const tracked = trackedOf(message, copy, sender);
  if (!raw) return { ...outbound, ...personalise(message.content, tracked) };
  const changes = copyChanges(raw, tracked, personalise);
  const written = rawOctets(raw, outbound, changes);
  return { ...outbound, text: null, html: null, unsubscribe: changes.unsubscribe, written };
};

/** A null sender stays null, so that no server answers a report (RFC 5321 4.5.5). */
function returnPathOf(
  { submitted, forwardedFrom }: LiveMessage['envelope'],
  token: string,
  { returnPath }: Sender,
): string {
  if (submitted?.sender === null || forwardedFrom === '') return '';
  return forwardedFrom === undefined ? returnPathFor(token, returnPath) : srsPathFor(token, returnPath);
}

/** The recipient of a copy, and what is counted of it. */
export const trackedOf = (message: LiveMessage, copy: Copy, sender: Sender): Personalisation => ({
  ...personalOf(message, copy, sender),
  opens: message.envelope.trackOpens ?? sender.openTracking,
  clicks: message.envelope.trackClicks ?? sender.clickTracking,
  leaveHost: sender.receives ? sender.returnPath : null,
});

/** A copy without the parts that a person reads. */
export function unwritten(
  { subject, envelope, content, campaign_id: campaignId }: LiveMessage,
  { destination, address, attempt, date, token }: Copy,
  sender: Sender,
): Omit<OutboundMessage, keyof Body> {
  const { from, to, cc, bcc, replyTo, headers, attachments, messageId, submitted } = envelope;
  const asked = submitted?.recipients[destination.recipient];
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
    ...(content.calendar && { calendar: content.calendar }),
    messageId,
    date,
    returnPath: returnPathOf(envelope, token, sender),
    reports: submitted &&
      asked && { ...asked, returned: submitted.returned, envelopeId: submitted.envelopeId },
    dkim: sender.dkim,
    isBulk: (campaignId ?? null) !== null,
  };
}
