import type { NextKeys } from '../../../../machines/domain/context.ts';
import { generateDkimKey } from '../../../mail/dkim/key-pair.ts';
import { loadSigningKey, type SigningKey } from '../../../mail/dkim/signing-key.ts';
import type { Purpose } from '../../../platform/crypto/sealed-columns.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';

/** The public part of the two keys that share a selector. */
export interface KeySet {
  readonly selector: string;
  /**
   * `pending` keys wait for their DNS records; `retired` ones no longer sign, and their private halves are
   * deleted.
   */
  readonly stage: 'active' | 'pending' | 'retired';
  /** The beginning of the stage, in epoch milliseconds. */
  readonly since: number;
  readonly rsaValue: string;
  readonly ed25519Value: string;
}

/** The selector of the Ed25519 key; two keys cannot share one name (RFC 6376 3.6.2.2). */
export const ed25519SelectorOf = (selector: string): string => `${selector}-ed`;

/**
 * Makes a new selector for each set of keys, so that two services can share a domain and no record is ever
 * reused.
 */
export const selectorFrom = (id: string): string => `svc-${id.slice(-6)}`;

/** The keys of that stage. There is one active set, and at most one pending set. */
export const keysAt = <Keys extends KeySet>(sets: readonly Keys[], stage: KeySet['stage']): Keys | null =>
  sets.find((set) => set.stage === stage) ?? null;

/** The purpose that a key is sealed for, so that the key of another domain cannot replace it. */
const purposeOf = (domainId: string): Purpose => `DKIM key of ${domainId}`;

/** Makes both keys on another thread, which an RSA key occupies for 40 to 80 ms. */
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

/** The stored private keys of a domain. */
export interface SealedKeys {
  readonly domainId: string;
  readonly domain: string;
  readonly selector: string;
  readonly rsa: string;
  /** Null until its record is in DNS: before that no receiver could verify its signatures. */
  readonly ed25519: string | null;
}

/**
 * Opens and checks the keys. It takes a few milliseconds, so callers keep the result. @throws UnusableKey, or
 * when SECRET_KEY has changed
 */
export function openKeys(
  sealer: Pick<Sealer, 'open'>,
  { domainId, domain, selector, rsa, ed25519 }: SealedKeys,
): readonly SigningKey[] {
  const load = (sealed: string, at: string): SigningKey =>
    loadSigningKey({ domain, selector: at, pem: sealer.open(sealed, purposeOf(domainId)) });
  return [load(rsa, selector), ...(ed25519 === null ? [] : [load(ed25519, ed25519SelectorOf(selector))])];
}

/** The private RSA key in PEM, for a provider that signs with it. */
export const openRsaKey = (sealer: Sealer, domainId: string, sealed: string): string =>
  sealer.open(sealed, purposeOf(domainId));
