import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const MARK = 'sealed:1:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A text was sealed with another key: the one of now came in its place (`posthorn secret-key replace`), or is the wrong one. */
export class SealedWithAnotherKey extends Error {
  override readonly name = 'SealedWithAnotherKey';

  constructor(cause: unknown) {
    super('This was sealed with another SECRET_KEY than the one of now, and cannot be opened.', { cause });
  }
}

/** Encrypts data that must not be stored in clear text: private keys, webhook secrets, replies that hold a secret. */
export interface Sealer {
  /** Seals a text for a `purpose`, without which it cannot be opened. */
  seal(text: string, purpose: string): string;
  /** Opens a sealed text and returns any other as it is. @throws SealedWithAnotherKey */
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
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealedWithAnotherKey(error);
      }
    },
  };
}

/** Opens a sealed text; null when it was sealed with another key, which callers tell in words of their own. */
export function openOrNull(sealer: Pick<Sealer, 'open'>, text: string, purpose: string): string | null {
  try {
    return sealer.open(text, purpose);
  } catch (error) {
    if (error instanceof SealedWithAnotherKey) return null;
    throw error;
  }
}
