import type { Signer } from '../../platform/crypto/signer.ts';

/** The purpose of a link in an email. It is signed too, so that no link can be turned into another. */
export type Purpose = 'open' | 'click' | 'unsubscribe';

/** The content of a link: its recipient, and its target. */
export interface Link {
  readonly emailId: string;
  /** Index over to, cc and bcc. */
  readonly recipient: number;
  /** The URL of a click; workspace and address of an unsubscription; empty for an open. */
  readonly target: string;
  /** The number of different links in the message, three for more; absent where it has one at most. */
  readonly links?: number;
}

const TOKEN = /^([\w-]{28,8192})\.([\w-]{22})$/;
const CONTENT = /^([0-9a-hjkmnp-tv-z]{24})\.(\d{1,2})(?:-(\d))?\.(.*)$/s;

/** The token of a link. It holds everything that is needed, so that no table has to be kept for it. */
export function linkToken(
  purpose: Purpose,
  { emailId, recipient, target, links }: Link,
  signer: Pick<Signer, 'sign'>,
): string {
  const whose = links === undefined ? recipient : `${recipient}-${links}`;
  const content = Buffer.from(`${emailId.slice(3)}.${whose}.${target}`).toString('base64url');
  return `${content}.${signer.sign(`link ${purpose}`, content).toString('base64url')}`;
}

/** The content of a token; null unless it was signed here for that purpose. */
export function readLinkToken(purpose: Purpose, token: string, signer: Signer): Link | null {
  const [, content, mac] = TOKEN.exec(token) ?? [];
  if (content === undefined || mac === undefined) return null;
  if (!signer.proves(Buffer.from(mac, 'base64url'), `link ${purpose}`, content)) return null;
  const [, id, recipient, links, target] = CONTENT.exec(Buffer.from(content, 'base64url').toString()) ?? [];
  if (target === undefined) return null;
  const found = { emailId: `em_${id}`, recipient: Number(recipient), target };
  return links === undefined ? found : { ...found, links: Number(links) };
}

/** From this many different links on, it does not matter how many more there are. */
export const MANY_LINKS = 3;

/** True when a text is an absolute web address, without characters that other programs would read differently. */
export function isWeb(text: string): boolean {
  const address = text.trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address) && !/[\p{Cc}\s]/u.test(address);
}
