import type { Signer } from '../../platform/crypto/signer.ts';
import { base32, fromBase32 } from '../../platform/text/base32.ts';

/** The word in place of a reply address that asks for one of these. */
export const AUTO = 'auto';

/** The workspace and environment of an email. */
interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** The email that a reply address names. */
export interface RepliedEmail {
  readonly emailId: string;
  /** True of the workspace and environment that the email is of. */
  isOf(owner: Owner): boolean;
}

/** The local part without its tag. */
export const REPLY_NAME = 'r';

const PURPOSE = 'reply address';
/** An id has 24 characters of five bits. */
const ID_OCTETS = 15;
/** The mark tells workspaces apart once the email itself is gone; only a genuine token has one. */
const MARK_OCTETS = 3;
const PREFIX = 'em_';
/**
 * With the signature: 48 characters, so that `r+` and the token keep to the 64 octets of a local part (RFC
 * 5321 4.5.3.1.1).
 */
const TOKEN = /^[0-9a-hjkmnp-tv-z]{48}$/;

const markOf = ({ workspaceId, livemode }: Owner, signer: Signer): Buffer =>
  signer.hash('reply owner', `${workspaceId} ${livemode}`).subarray(0, MARK_OCTETS);

/**
 * The address for replies to an email, at a domain that receives for its workspace. It tells nothing of the
 * email.
 */
export function replyAddress(emailId: string, owner: Owner, domain: string, signer: Signer): string {
  const named = Buffer.concat([fromBase32(emailId.slice(PREFIX.length)), markOf(owner, signer)]);
  return `${REPLY_NAME}+${base32(signer.conceal(PURPOSE, named))}@${domain}`;
}

/** The email that the tag of an address names; null unless the tag was made here. */
export function readReplyToken(tag: string, signer: Signer): RepliedEmail | null {
  const token = tag.toLowerCase();
  const named = TOKEN.test(token) ? signer.reveal(PURPOSE, fromBase32(token)) : null;
  if (named?.length !== ID_OCTETS + MARK_OCTETS) return null;
  const mark = named.subarray(ID_OCTETS);
  return {
    emailId: `${PREFIX}${base32(named.subarray(0, ID_OCTETS))}`,
    isOf: (owner) => mark.equals(markOf(owner, signer)),
  };
}
