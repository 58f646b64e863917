import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Signs what is handed to strangers and comes back: links in emails, the addresses that bounces go to. */
export interface Signer {
  /** `purpose` is bound to the result: what was signed for one thing proves nothing of another. */
  sign(purpose: string, text: string, bytes?: number): Buffer;
  /** Whether it is what `sign` gives, of the same length; in a time that tells nothing of where it differs. */
  proves(mac: Uint8Array, purpose: string, text: string): boolean;
}

/** 128 bits: nobody guesses them, and a link stays short. */
const BYTES = 16;

/** HMAC-SHA256 under a key derived from SECRET_KEY. */
export function createSigner(secretKey: string): Signer {
  const key = createHash('sha256').update('posthorn sign\n').update(secretKey).digest();
  const sign: Signer['sign'] = (purpose, text, bytes = BYTES) =>
    createHmac('sha256', key).update(`${purpose}\n${text}`).digest().subarray(0, bytes);
  return {
    sign,
    proves: (mac, purpose, text) => mac.length > 0 && timingSafeEqual(mac, sign(purpose, text, mac.length)),
  };
}
