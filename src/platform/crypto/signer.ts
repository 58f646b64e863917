import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Keys, onlyKey, type SecretKey } from './secret-key.ts';

/** Signs data that strangers send back: links in emails, the addresses that bounces go to. */
export interface Signer {
  /** Signs a text for a `purpose`; the signature proves nothing for another purpose. */
  sign(purpose: string, text: string, bytes?: number): Buffer;
  /** True when the signature is one that `sign` returns, or returned with an earlier key; compared in constant time. */
  proves(mac: Uint8Array, purpose: string, text: string): boolean;
  /** A keyed hash that stays the same when the key is rotated, to find again what was stored by it. */
  hash(purpose: string, text: string): Buffer;
  /** The signing key of another thread of this process at this moment (`signingWith`). It is secret. */
  readonly key: Uint8Array;
}

/** The length of a signature: 128 bits cannot be guessed, and a link stays short. */
const BYTES = 16;
/** The length of a hash. */
const HASH_BYTES = 32;

/** Makes a signer of one key. */
export function createSigner(secretKey: string): Signer {
  const keys = onlyKey(secretKey);
  return signerOf(() => keys);
}

const macOf = (key: Uint8Array, purpose: string, text: string, bytes: number): Buffer =>
  createHmac('sha256', key).update(`${purpose}\n${text}`).digest().subarray(0, bytes);

const signed = ({ sign }: SecretKey, purpose: string, text: string, bytes: number): Buffer =>
  macOf(sign, purpose, text, bytes);

/** Signs with the `key` of a signer. */
export const signingWith = (key: Uint8Array): Pick<Signer, 'sign'> => ({
  sign: (purpose, text, bytes = BYTES) => macOf(key, purpose, text, bytes),
});

/** Makes a signer of keys that may change: HMAC-SHA256 with keys derived from SECRET_KEY. */
export const signerOf = (keys: () => Keys): Signer => ({
  sign: (purpose, text, bytes = BYTES) => signed(keys().current, purpose, text, bytes),
  proves(mac, purpose, text) {
    if (mac.length === 0) return false;
    const { current, others, revoked } = keys();
    return [current, ...others].some(
      (key) => !revoked.has(key.id) && timingSafeEqual(mac, signed(key, purpose, text, mac.length)),
    );
  },
  hash: (purpose, text) => signed(keys().first, purpose, text, HASH_BYTES),
  get key() {
    return keys().current.sign;
  },
});
