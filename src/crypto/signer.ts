import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Signs data that strangers send back: links in emails, the addresses that bounces go to. */
export interface Signer {
  /** Signs a text for a `purpose`; the signature proves nothing for another purpose. */
  sign(purpose: string, text: string, bytes?: number): Buffer;
  /** True when the signature is the one that `sign` returns; compared in constant time. */
  proves(mac: Uint8Array, purpose: string, text: string): boolean;
}

/** The length of a signature: 128 bits cannot be guessed, and a link stays short. */
const BYTES = 16;

/** Makes a signer: HMAC-SHA256 with a key derived from SECRET_KEY. */
export function createSigner(secretKey: string): Signer {
  const key = createHash('sha256').update('posthorn sign\n').update(secretKey).digest();
  const sign: Signer['sign'] = (purpose, text, bytes = BYTES) =>
    createHmac('sha256', key).update(`${purpose}\n${text}`).digest().subarray(0, bytes);
  return {
    sign,
    proves: (mac, purpose, text) => mac.length > 0 && timingSafeEqual(mac, sign(purpose, text, mac.length)),
  };
}
