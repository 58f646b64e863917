import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** A certificate chain and its key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The certificate of the moment, which may be renewed. */
export interface CertificateSource {
  /** Null until the first one is there. */
  readonly current: KeyPair | null;
  /** Calls with the current certificate, if there is one, and with every later one. */
  follow(follower: (pair: KeyPair) => void): void;
}

/** True when the key is that of the certificate and needs no passphrase, and TLS takes the whole chain. */
export function isUsable({ certificate, key }: KeyPair): boolean {
  try {
    createSecureContext({ cert: certificate, key });
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
