import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const MARK = 'sealed:1:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts data that must not be stored in clear text: private keys, webhook secrets, replies that hold a secret. */
export interface Sealer {
  /** Seals a text for a `purpose`, without which it cannot be opened. */
  seal(text: string, purpose: string): string;
  /** Opens a sealed text and returns any other as it is. @throws when it was sealed with another key */
  open(text: string, purpose: string): string;
}

/** Makes a sealer: AES-256-GCM with a key derived from SECRET_KEY. */
export function createSealer(secretKey: string): Sealer {
  const key = createHash('sha256').update('posthorn seal\n').update(secretKey).digest();
  return {
    seal(text, purpose) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return MARK + sealed.toString('base64url');
    },
    open(text, purpose) {
      if (!text.startsWith(MARK)) return text;
      const sealed = Buffer.from(text.slice(MARK.length), 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      const body = sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}
