import { domainOf } from '../../../mail/compose/envelope.ts';
import { forwardedMessage } from '../../../mail/forwarding/forwarded.ts';
import { offersExit } from '../../../mail/html/way-out.ts';
import { lettersIn } from '../../../mail/raw/html-leaf.ts';
import { type LeafChange, leavingMessage } from '../../../mail/raw/leaving.ts';
import type { RawContent } from '../../../mail/raw/raw-mail.ts';
import type { OutboundMessage, Unsubscribe, WrittenMessage } from '../../../mail/transport/transport.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import type { Content } from '../accept/message.ts';

interface Parts {
  readonly text: string | null;
  readonly html: string | null;
}

/** The changes of one copy of a message that stays what it is elsewhere. */
interface CopyChanges {
  readonly changes: readonly LeafChange[];
  readonly unsubscribe: Unsubscribe | null;
}

const UNCHANGED: CopyChanges = { changes: [], unsubscribe: null };

/** The parts of messages, the same object for every copy: reading html takes time. */
const partsOf = new WeakMap<RawContent, Parts>();

/** True when a message shows a link to unsubscribe in any part. */
export const rawOffersExit = ({ text, html }: Parts): boolean =>
  [text, html].some((part) => part !== null && offersExit(part));

/** The parts as one recipient gets them, where links are counted or offer to unsubscribe. */
export function copyChanges<Whose extends { readonly opens: boolean; readonly clicks: boolean }>(
  content: Pick<Content, 'raw' | 'text' | 'html'>,
  whose: Whose,
  personalise: (parts: Parts, whose: Whose) => Parts & { readonly unsubscribe: Unsubscribe | null },
): CopyChanges {
  const { raw } = content;
  if (!raw || !(whose.opens || whose.clicks || rawOffersExit(content))) return UNCHANGED;
  const { html, text } = raw.index;
  const htmlLeaf = typeof html === 'string' ? null : html;
  if (!htmlLeaf && !text) return UNCHANGED;
  // An unchanged text part is empty here, so that none is made of the html.
  const parts = partsOf.get(raw) ?? {
    text: text ? lettersIn(raw.octets, text) : '',
    html: htmlLeaf && lettersIn(raw.octets, htmlLeaf),
  };
  partsOf.set(raw, parts);
  const changed = personalise(parts, whose);
  const changes = [
    ...(text ? [{ leaf: text, letters: changed.text ?? '' }] : []),
    // Html in which nothing changed keeps the octets of its encoding.
    ...(htmlLeaf && changed.html !== parts.html ? [{ leaf: htmlLeaf, letters: changed.html ?? '' }] : []),
  ].toSorted((one, other) => one.leaf.start - other.leaf.start);
  return { changes, unsubscribe: changed.unsubscribe };
}

/** The octets of a copy before it is signed. */
export function rawOctets(
  { octets, index }: RawContent,
  {
    emailId,
    from,
    messageId,
    date,
    dkim,
  }: Pick<OutboundMessage, 'emailId' | 'from' | 'messageId' | 'date' | 'dkim'>,
  { changes, unsubscribe }: CopyChanges,
): WrittenMessage {
  const message = leavingMessage(octets, {
    ...{ id: emailId, acceptedAt: timeOfId(emailId), came: index.came, date, messageId },
    domains: [domainOf(from.address), ...dkim.map(({ domain }) => domain.toLowerCase())],
    ...{ unsubscribe, changes },
  });
  return { ...message, signatures: null };
}

/** The octets of a copy of a message that is forwarded, and nothing else: its author has signed it. */
export const forwardedParts = (
  raw: RawContent,
  { emailId, dkim }: Pick<OutboundMessage, 'emailId' | 'dkim'>,
): Pick<OutboundMessage, 'text' | 'html' | 'unsubscribe' | 'written'> => ({
  text: null,
  html: null,
  unsubscribe: null,
  written: { composed: forwardedOctets(raw, emailId, dkim), signatures: null, isForwarded: true },
});

/** The octets that all targets of a forward get. Each seal hashes up to 25 MiB, so that one serves all copies of an attempt. */
const forwards = new WeakMap<RawContent, { readonly emailId: string; readonly composed: Buffer }>();

function forwardedOctets(raw: RawContent, emailId: string, keys: OutboundMessage['dkim']): Buffer {
  const before = forwards.get(raw);
  if (before?.emailId === emailId) return before.composed;
  const { octets, index } = raw;
  const { came, forward } = index;
  const composed = forward
    ? forwardedMessage(octets, forward, { id: emailId, acceptedAt: timeOfId(emailId), came, keys })
    : octets;
  forwards.set(raw, { emailId, composed });
  return composed;
}
