import type { Sealer } from '../../db/seal.ts';
import { generateDkimKey } from '../../transport/dkim/key-pair.ts';
import { loadSigningKey, type SigningKey } from '../../transport/dkim/signing-key.ts';
import { ed25519SelectorOf } from './records.ts';

/** A domain's two new keys: what its row publishes, and the private halves as they are stored. */
export interface NewKeys {
  readonly rsa_value: string;
  readonly ed25519_value: string;
  readonly rsa_key: string;
  readonly ed25519_key: string;
}

/** What a key is sealed for: that of another domain cannot be put in its place. */
const purposeOf = (domainId: string): string => `DKIM key of ${domainId}`;

/** Makes both keys, off the main thread (an RSA key takes 40 to 80 ms of another one). */
export async function makeKeys(domainId: string, sealer: Sealer): Promise<NewKeys> {
  const [rsa, ed25519] = await Promise.all([
    generateDkimKey('rsa-sha256'),
    generateDkimKey('ed25519-sha256'),
  ]);
  const purpose = purposeOf(domainId);
  return {
    rsa_value: rsa.dnsValue,
    ed25519_value: ed25519.dnsValue,
    rsa_key: sealer.seal(rsa.privateKey, purpose),
    ed25519_key: sealer.seal(ed25519.privateKey, purpose),
  };
}

/** The keys of a domain as they are stored. */
export interface SealedKeys {
  readonly domainId: string;
  readonly domain: string;
  readonly selector: string;
  readonly rsa: string;
  /** null while its record has not been seen: a signature that nobody can check helps nobody. */
  readonly ed25519: string | null;
}

/** Opens and checks the keys, which costs a few milliseconds: keep them. @throws UnusableKey, or when SECRET_KEY has changed */
export function openKeys(
  sealer: Sealer,
  { domainId, domain, selector, rsa, ed25519 }: SealedKeys,
): readonly SigningKey[] {
  const load = (sealed: string, at: string): SigningKey =>
    loadSigningKey({ domain, selector: at, pem: sealer.open(sealed, purposeOf(domainId)) });
  return [load(rsa, selector), ...(ed25519 === null ? [] : [load(ed25519, ed25519SelectorOf(selector))])];
}

/** The private RSA key in PEM, for a provider that signs with it. */
export const openRsaKey = (sealer: Sealer, domainId: string, sealed: string): string =>
  sealer.open(sealed, purposeOf(domainId));
