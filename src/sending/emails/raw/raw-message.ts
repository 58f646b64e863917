import { domainOf } from '../../../mail/compose/envelope.ts';
import { offersExit } from '../../../mail/html/way-out.ts';
import { htmlOf } from '../../../mail/raw/html-leaf.ts';
import { leavingMessage } from '../../../mail/raw/leaving.ts';
import type { Leaf } from '../../../mail/raw/mime-tree.ts';
import type { RawContent } from '../../../mail/raw/raw-mail.ts';
import type { OutboundMessage, Unsubscribe, WrittenMessage } from '../../../mail/transport/transport.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import type { Content } from '../accept/message.ts';

interface Parts {
  readonly text: string | null;
  readonly html: string | null;
}

/** The html of one copy of a message that stays what it is elsewhere. */
interface ChangedHtml {
  readonly leaf: Leaf;
  readonly html: string;
  readonly unsubscribe: Unsubscribe | null;
}

/** The html of messages, the same object for every copy: reading it takes time. */
const partsOf = new WeakMap<RawContent, Parts>();

/** The html as one recipient gets it, where its links are counted or offer to unsubscribe; null where it stays what it is. */
export function changedHtml<Whose extends { readonly opens: boolean; readonly clicks: boolean }>(
  { raw, html }: Pick<Content, 'raw' | 'html'>,
  whose: Whose,
  personalise: (parts: Parts, whose: Whose) => Parts & { readonly unsubscribe: Unsubscribe | null },
): ChangedHtml | null {
  const leaf = raw?.index.html;
  if (!raw || !leaf || typeof leaf === 'string') return null;
  const isAsked = whose.opens || whose.clicks || (html !== null && offersExit(html));
  if (!isAsked) return null;
  // The text part stays what it is, so that none is made of the html.
  const parts = partsOf.get(raw) ?? { text: '', html: htmlOf(raw.octets, leaf) };
  partsOf.set(raw, parts);
  const { html: changed, unsubscribe } = personalise(parts, whose);
  return { leaf, html: changed ?? '', unsubscribe };
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
  changed: ChangedHtml | null,
): WrittenMessage {
  const composed = leavingMessage(octets, {
    ...{ id: emailId, acceptedAt: timeOfId(emailId), came: index.came, date, messageId },
    domains: [domainOf(from.address), ...dkim.map(({ domain }) => domain.toLowerCase())],
    unsubscribe: changed?.unsubscribe ?? null,
    html: changed,
  });
  return { composed, signatures: null };
}
