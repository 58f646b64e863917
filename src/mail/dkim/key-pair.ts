import { createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { DkimAlgorithm } from './signing-key.ts';

/** A new key pair: the private key as PKCS#8 PEM, and the TXT value that publishes the public key. */
export interface DkimKeyPair {
  readonly algorithm: DkimAlgorithm;
  readonly privateKey: string;
  readonly dnsValue: string;
}

const generate = promisify(generateKeyPair);
const ENCODING = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;

/**
 * Generates RSA with 2048 bits, which every verifier accepts and which still fits a DNS answer (RFC 8301), or
 * Ed25519.
 */
export const generateDkimKey = async (algorithm: DkimAlgorithm): Promise<DkimKeyPair> => {
  const { privateKey } =
    algorithm === 'rsa-sha256'
      ? await generate('rsa', { modulusLength: 2048, ...ENCODING })
      : await generate('ed25519', ENCODING);
  return { algorithm, privateKey, dnsValue: dkimDnsValue(privateKey) };
};

/**
 * The TXT value for the public key of a private key: RFC 6376 3.6.1, and RFC 8463 4 for Ed25519, which
 * publishes the bare 32 octets.
 */
export const dkimDnsValue = (privateKeyPem: string): string => {
  const privateKey = createPrivateKey(privateKeyPem);
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return privateKey.asymmetricKeyType === 'ed25519'
    ? `v=DKIM1; k=ed25519; p=${der.subarray(-32).toString('base64')}`
    : `v=DKIM1; k=rsa; p=${der.toString('base64')}`;
};
