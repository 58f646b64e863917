import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };

/** A new EC key on P-256 in PEM, for an account or a certificate. */
export const newEcKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

/**
 * The package (MIT, several releases a year) builds the ASN.1 of a request, which Node cannot. Passkeys bring
 * it along. It is loaded with the first order, because most installations have none, and it needs the
 * polyfill first.
 */
async function library(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** A certificate signing request for one host (PKCS #10, RFC 2986) in DER. The host is its only name. */
export async function certificateRequest(host: string, key: string): Promise<Buffer> {
  const x509 = await library();
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('pkcs8', pkcs8, CURVE, false, ['sign']),
    crypto.subtle.importKey('spki', spki, CURVE, true, ['verify']),
  ]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys: { privateKey, publicKey },
    signingAlgorithm: { ...CURVE, hash: 'SHA-256' },
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  });
  return Buffer.from(request.rawData);
}
