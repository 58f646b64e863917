import { leaveAddressFor, leaveTokenOf } from '../../mail/inbound/verp.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { ID_ALPHABET } from '../../platform/db/ids.ts';
import { base32, fromBase32 } from '../../platform/text/base32.ts';

/** The purpose of a link in an email. It is signed too, so that no link can be turned into another. */
export type Purpose = 'open' | 'click' | 'unsubscribe';

/** The content of a link: its recipient, and its target. */
export interface Link {
  readonly emailId: string;
  /** Index over to, cc and bcc. */
  readonly recipient: number;
  /** The URL of a click; the parts of `ExitTarget`; empty for an open. */
  readonly target: string;
  /** The number of different links in the message, three for more; absent where it has one at most. */
  readonly links?: number;
}

/** The person whom a link to unsubscribe is for, and the list that it leaves. */
export interface ExitTarget {
  readonly workspaceId: string;
  readonly address: string;
  readonly list: { readonly audienceId: string; readonly campaignId: string } | null;
  /** The language of the email, for the page that opens; null where none is known. */
  readonly language: string | null;
}

/**
 * The target of a link to unsubscribe. The language is last: versions that know of none read what is before
 * it.
 */
export const exitTarget = ({ workspaceId, address, list, language }: ExitTarget): string => {
  const { audienceId = '', campaignId = '' } = list ?? {};
  const named = list === null && language === null ? [] : [audienceId, campaignId];
  return [workspaceId, address, ...named, ...(language === null ? [] : [language])].join(' ');
};

/** Reads it. */
export function readExitTarget(target: string): ExitTarget {
  const [workspaceId = '', address = '', audienceId = '', campaignId = '', language = null] =
    target.split(' ');
  return { workspaceId, address, list: audienceId === '' ? null : { audienceId, campaignId }, language };
}

const TOKEN = /^([\w-]{28,8192})\.([\w-]{22})$/;
/** An older link to unsubscribe has its language behind the recipient, and none in its target. */
const CONTENT = /^([0-9a-hjkmnp-tv-z]{24})\.(\d{1,2})(?:-(\d))?(?:_([A-Za-z][A-Za-z\d-]{1,34}))?\.(.*)$/s;

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
  const [, id, recipient, links, language, target] =
    CONTENT.exec(Buffer.from(content, 'base64url').toString()) ?? [];
  if (target === undefined) return null;
  const found = {
    emailId: `em_${id}`,
    recipient: Number(recipient),
    target: language === undefined ? target : exitTarget({ ...readExitTarget(target), language }),
  };
  return links === undefined ? found : { ...found, links: Number(links) };
}

/**
 * The token of a link to a preference page, or of one that confirms, also within the escapes of a URL. Each
 * begins with the id of a workspace, in JSON and base64url (src/audience/preferences/links.ts).
 */
const PAGE_TOKEN = /(?<=^|[^\w-]|%2[Ff])WyJ3c1[\w-]{2,2042}\.[\w-]{22}(?![\w-])/g;

/** The token in its place where a message is only shown: its page says that the link is not valid. */
export const SHOWN_TOKEN = 'preview';

/** A text of a live email for its readers, who must not act for its recipient by a page that it links. */
export const withShownLinks = <Text extends string | null>(text: Text): Text =>
  (text === null ? text : text.replace(PAGE_TOKEN, SHOWN_TOKEN)) as Text;

/** The same with the parts that a person reads. */
export const withShownParts = <Parts extends { readonly text: string | null; readonly html: string | null }>(
  parts: Parts,
): Parts => ({ ...parts, text: withShownLinks(parts.text), html: withShownLinks(parts.html) });

/** 80 bits, which can only be guessed by sending mail. */
const LEAVE_BYTES = 10;
const LEAVE = new RegExp(`^([${ID_ALPHABET}]{24})\\.(\\d{1,2})\\.([${ID_ALPHABET}]{16})$`);
/** Signed apart from the return path, which relays and logs see without the message. */
const LEAVE_PURPOSE = 'address to unsubscribe';

/**
 * The address whose mail unsubscribes a recipient: the token fits the 64 octets of a local part (RFC 5321
 * 4.5.3.1.1).
 */
export function leaveAddress(
  { emailId, recipient }: Pick<Link, 'emailId' | 'recipient'>,
  host: string,
  signer: Pick<Signer, 'sign'>,
): string {
  const named = `${emailId.slice(3)}.${recipient}`;
  return leaveAddressFor(`${named}.${base32(signer.sign(LEAVE_PURPOSE, named, LEAVE_BYTES))}`, host);
}

/** The recipient whom mail to an address unsubscribes; null unless it was signed here for that. */
export function readLeaveAddress(
  address: string,
  signer: Signer,
): Pick<Link, 'emailId' | 'recipient'> | null {
  const [, id = '', recipient = '', mac] = LEAVE.exec(leaveTokenOf(address) ?? '') ?? [];
  if (mac === undefined || !signer.proves(fromBase32(mac), LEAVE_PURPOSE, `${id}.${recipient}`)) return null;
  return { emailId: `em_${id}`, recipient: Number(recipient) };
}

/** From this many different links on, it does not matter how many more there are. */
export const MANY_LINKS = 3;

/**
 * True when a text is an absolute web address, without characters that other programs would read differently.
 */
export function isWeb(text: string): boolean {
  const address = text.trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address) && !/[\p{Cc}\s]/u.test(address);
}

/** A link, or a part of one, with its spaces as browsers write them. */
export const withCodedSpaces = (link: string): string => link.replaceAll(' ', '%20');

/** The web address that a link leads to; null for a link to anything else. */
export function webAddress(link: string): string | null {
  const address = withCodedSpaces(link.trim());
  return isWeb(address) ? address : null;
}
