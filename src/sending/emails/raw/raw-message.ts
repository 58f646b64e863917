import { domainOf } from '../../../mail/compose/envelope.ts';
import { forwardedMessage } from '../../../mail/forwarding/forwarded.ts';
import { offersExit } from '../../../mail/html/way-out.ts';
import { lettersIn } from '../../../mail/raw/html-leaf.ts';
import { type LeafChange, leavingMessage } from '../../../mail/raw/leaving.ts';
import type { RawContent } from '../../../mail/raw/raw-mail.ts';
import type { OutboundMessage, Unsubscribe, WrittenMessage } from '../../../mail/transport/transport.ts';
import { timeOfId } from '../../../platform/db/ids.ts';

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

/** The html of messages, in the same object for every copy: reading it takes time. */
const partsOf = new WeakMap<RawContent, Parts & { readonly offersExit: boolean }>();

/** The text is empty here, since it stays as it came, and none is made of the html. */
function changeableParts(raw: RawContent): Parts & { readonly offersExit: boolean } {
  const known = partsOf.get(raw);
  if (known) return known;
  const { html: leaf } = raw.index;
  const html = typeof leaf === 'string' ? null : lettersIn(raw.octets, leaf);
  const parts = { text: '', html, offersExit: html !== null && offersExit(html) };
  partsOf.set(raw, parts);
  return parts;
}

/**
 * True when the html of a message asks for a link to unsubscribe. A placeholder in its text is a word like
 * any other.
 */
export const rawOffersExit = (raw: RawContent): boolean => changeableParts(raw).offersExit;

/** The changes of the html that one recipient gets, where links are counted or offer to unsubscribe. */
export function copyChanges<Whose extends { readonly opens: boolean; readonly clicks: boolean }>(
  raw: RawContent,
  whose: Whose,
  personalise: (parts: Parts, whose: Whose) => Parts & { readonly unsubscribe: Unsubscribe | null },
): CopyChanges {
  const { html: leaf } = raw.index;
  if (typeof leaf === 'string' || !(whose.opens || whose.clicks || rawOffersExit(raw))) return UNCHANGED;
  const parts = changeableParts(raw);
  const { html, unsubscribe } = personalise(parts, whose);
  // Html in which nothing changed keeps the octets of its encoding.
  return { changes: html === parts.html ? [] : [{ leaf, letters: html ?? '' }], unsubscribe };
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
    id: emailId,
    acceptedAt: timeOfId(emailId),
    came: index.came,
    date,
    messageId,
    domains: [domainOf(from.address), ...dkim.map(({ domain }) => domain.toLowerCase())],
    unsubscribe,
    changes,
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

/**
 * The octets that all targets of a forward get. Each seal hashes up to 25 MiB, so that one serves all copies
 * of an attempt.
 */
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
