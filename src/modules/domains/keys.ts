import type { NextKeys } from '../../../machines/domain-context.ts';
import type { Sealer } from '../../crypto/sealer.ts';
import { generateDkimKey } from '../../transport/dkim/key-pair.ts';
import { loadSigningKey, type SigningKey } from '../../transport/dkim/signing-key.ts';

/** A domain's keys that go by one selector, as far as everybody may know them. */
export interface KeySet {
  readonly selector: string;
  /** `pending` keys wait for their records; `retired` ones have signed before, and their private halves are destroyed. */
  readonly stage: 'active' | 'pending' | 'retired';
  /** Since when, epoch milliseconds. */
  readonly since: number;
  readonly rsaValue: string;
  readonly ed25519Value: string;
}

/** The selector of the Ed25519 key; two keys cannot share one name (RFC 6376 3.6.2.2). */
export const ed25519SelectorOf = (selector: string): string => `${selector}-ed`;

/** Another selector for every set of keys, so that two services can share a name, and no record is ever reused. */
export const selectorFrom = (id: string): string => `svc-${id.slice(-6)}`;

/** The keys of that stage; there is one active set, and one pending set at most. */
export const keysAt = <Keys extends KeySet>(sets: readonly Keys[], stage: KeySet['stage']): Keys | null =>
  sets.find((set) => set.stage === stage) ?? null;

/** What a key is sealed for: that of another domain cannot be put in its place. */
const purposeOf = (domainId: string): string => `DKIM key of ${domainId}`;

/** Makes both keys, off the main thread (an RSA key takes 40 to 80 ms of another one). */
export async function makeKeys(domainId: string, sealer: Sealer): Promise<Omit<NextKeys, 'selector'>> {
  const [rsa, ed25519] = await Promise.all([
    generateDkimKey('rsa-sha256'),
    generateDkimKey('ed25519-sha256'),
  ]);
  const purpose = purposeOf(domainId);
  return {
    rsaValue: rsa.dnsValue,
    ed25519Value: ed25519.dnsValue,
    sealedRsa: sealer.seal(rsa.privateKey, purpose),
    sealedEd25519: sealer.seal(ed25519.privateKey, purpose),
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
