import type { Signer } from '../../platform/crypto/signer.ts';
import { FORGOTTEN_DOMAIN } from '../../platform/text/forgotten.ts';

/** The prefix of the keys by which forgotten addresses are suppressed. */
const FORGOTTEN_PREFIX = 'forgotten:';

/**
 * The hash by which a forgotten address is recognised, which only SECRET_KEY can make: addresses are few
 * enough to be guessed, so that a hash without a key would not hide them. `key` is `Address.key`.
 */
export const forgottenKey = (signer: Signer, workspaceId: string, key: string): string =>
  `${FORGOTTEN_PREFIX}${signer.hash('forgotten address', `${workspaceId} ${key}`).toString('base64url')}`;

/** A recipient of an email. */
interface Place {
  readonly emailId: string;
  readonly recipient: number;
}

/**
 * The purpose names the place: the copies of one person are equal in no two emails, and none can be opened in
 * another one.
 */
const purposeOf = ({ emailId, recipient }: Place): string => `forgotten recipient ${emailId} ${recipient}`;

/**
 * The key of a recipient who is forgotten: in the form of an address, since it takes the place of one. It
 * conceals the hash by which the address is suppressed, so that a complaint or a bounce of the email still
 * keeps mail from the person. `hash` is a `forgottenKey`.
 */
export const forgottenRecipient = (signer: Signer, place: Place, hash: string): string => {
  const octets = Buffer.from(hash.slice(FORGOTTEN_PREFIX.length), 'base64url');
  return `forgotten-${signer.conceal(purposeOf(place), octets).toString('base64url')}@${FORGOTTEN_DOMAIN}`;
};

const KEY = /^forgotten-([\w-]{44,})@/;

/**
 * The hash that the key of a forgotten recipient conceals; null for any other key, and where SECRET_KEY was
 * lost since.
 */
export function forgottenHash(signer: Signer, place: Place, key: string): string | null {
  const [, concealed] = key.endsWith(`@${FORGOTTEN_DOMAIN}`) ? (KEY.exec(key) ?? []) : [];
  const octets = concealed && signer.reveal(purposeOf(place), Buffer.from(concealed, 'base64url'));
  return octets ? FORGOTTEN_PREFIX + octets.toString('base64url') : null;
}
