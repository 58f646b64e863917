import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Keys, onlyKey, type SecretKey } from './secret-key.ts';

/** Signs data that strangers send back: links in emails, the addresses that bounces go to. */
export interface Signer {
  /** Signs a text for a `purpose`; the signature proves nothing for another purpose. */
  sign(purpose: string, text: string, bytes?: number): Buffer;
  /**
   * True when the signature is one that `sign` returns, or returned with an earlier key; compared in constant
   * time.
   */
  proves(mac: Uint8Array, purpose: string, text: string): boolean;
  /**
   * Signs and encrypts at most 32 octets: the same octets give the same result, which tells nothing of them.
   * The signature is the nonce of the encryption, as in RFC 5297.
   */
  conceal(purpose: string, octets: Uint8Array): Buffer;
  /** The octets that `conceal` was given, now or with an earlier key; null for anything else. */
  reveal(purpose: string, concealed: Uint8Array): Buffer | null;
  /** A keyed hash that stays the same when the key is rotated, to find again what was stored by it. */
  hash(purpose: string, text: string): Buffer;
  /** The signing key of another thread of this process at this moment (`signingWith`). It is secret. */
  readonly key: Uint8Array;
}

/** The length of a signature: 128 bits cannot be guessed, and a link stays short. */
const BYTES = 16;
/** The length of a hash. */
const HASH_BYTES = 32;
/** The signature of concealed octets: 96 bits, which can only be guessed by sending mail. */
const NONCE_BYTES = 12;

/** Makes a signer of one key. */
export function createSigner(secretKey: string): Signer {
  const keys = onlyKey(secretKey);
  return signerOf(() => keys);
}

const macOf = (key: Uint8Array, purpose: string, text: string, bytes: number): Buffer =>
  createHmac('sha256', key).update(`${purpose}\n${text}`).digest().subarray(0, bytes);

const signed = ({ sign }: SecretKey, purpose: string, text: string, bytes: number): Buffer =>
  macOf(sign, purpose, text, bytes);

const nonceOf = ({ sign }: SecretKey, purpose: string, octets: Uint8Array): Buffer =>
  macOf(sign, `${purpose} nonce`, Buffer.from(octets).toString('base64'), NONCE_BYTES);

/** The octets, encrypted or decrypted. */
function masked({ sign }: SecretKey, purpose: string, nonce: Buffer, octets: Uint8Array): Buffer {
  const mask = macOf(sign, `${purpose} mask`, nonce.toString('base64'), HASH_BYTES);
  return Buffer.from(octets.map((octet, index) => octet ^ (mask[index] as number)));
}

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
  conceal(purpose, octets) {
    if (octets.length > HASH_BYTES) throw new RangeError(`At most ${HASH_BYTES} octets can be concealed.`);
    const { current } = keys();
    const nonce = nonceOf(current, purpose, octets);
    return Buffer.concat([nonce, masked(current, purpose, nonce, octets)]);
  },
  reveal(purpose, concealed) {
    const nonce = Buffer.from(concealed.subarray(0, NONCE_BYTES));
    const body = concealed.subarray(NONCE_BYTES);
    if (body.length === 0 || body.length > HASH_BYTES) return null;
    const { current, others, revoked } = keys();
    for (const key of [current, ...others]) {
      if (revoked.has(key.id)) continue;
      const octets = masked(key, purpose, nonce, body);
      if (timingSafeEqual(nonce, nonceOf(key, purpose, octets))) return octets;
    }
    return null;
  },
  hash: (purpose, text) => signed(keys().first, purpose, text, HASH_BYTES),
  get key() {
    return keys().current.sign;
  },
});
