import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Purpose } from './sealed-columns.ts';
import { type Keys, onlyKey, type SecretKey } from './secret-key.ts';

/** The prefix of every sealed text. */
export const SEALED_MARK = 'sealed:';
/**
 * Sealed with the key that the database was first used with, or with one that took its place when it was
 * lost.
 */
const UNNAMED = `${SEALED_MARK}1:`;
/** Sealed with the key whose id follows. */
const NAMED = `${SEALED_MARK}2:`;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A text was sealed with another key: the current one replaced it (`posthorn secret-key replace`), or is the
 * wrong one.
 */
export class SealedWithAnotherKey extends Error {
  override readonly name = 'SealedWithAnotherKey';

  constructor(cause?: unknown) {
    super('This secret was sealed with another SECRET_KEY than the current one, and cannot be opened.', {
      cause,
    });
  }
}

/**
 * Encrypts data that must not be stored in clear text: private keys, webhook secrets, replies that hold a
 * secret.
 */
export interface Sealer {
  /** Seals a text for a `purpose`, without which it cannot be opened. */
  seal(text: string, purpose: Purpose): string;
  /** Opens a sealed text and returns any other as it is. @throws SealedWithAnotherKey */
  open(text: string, purpose: Purpose): string;
}

/** Makes a sealer of one key. */
export function createSealer(secretKey: string): Sealer {
  const keys = onlyKey(secretKey);
  return sealerOf(() => keys);
}

/** The beginning of every text that is sealed with the current key. */
export const markOf = ({ current, named }: Keys): string => (named ? `${NAMED}${current.id}:` : UNNAMED);

/** Makes a sealer of keys that may change: AES-256-GCM with keys derived from SECRET_KEY. */
export const sealerOf = (keys: () => Keys): Sealer => ({
  seal(text, purpose) {
    const now = keys();
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', now.current.seal, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return markOf(now) + sealed.toString('base64url');
  },
  open(text, purpose) {
    if (!text.startsWith(SEALED_MARK)) return text;
    const { current, others } = keys();
    const { id, body } = partsOf(text);
    const mayOpen = [current, ...others].filter((key) => id === null || key.id === id);
    const sealed = Buffer.from(body, 'base64url');
    // A shorter tag would be easier to forge.
    if (sealed.length < IV_BYTES + TAG_BYTES) throw new SealedWithAnotherKey();
    let cause: unknown;
    for (const key of mayOpen) {
      try {
        return openWith(key, sealed, purpose);
      } catch (error) {
        cause = error;
      }
    }
    throw new SealedWithAnotherKey(cause);
  },
});

/**
 * The key that a text names, and what is encrypted. @throws SealedWithAnotherKey when a later version has
 * sealed it
 */
function partsOf(text: string): { readonly id: string | null; readonly body: string } {
  if (text.startsWith(UNNAMED)) return { id: null, body: text.slice(UNNAMED.length) };
  if (!text.startsWith(NAMED)) throw new SealedWithAnotherKey();
  const colon = text.indexOf(':', NAMED.length);
  return { id: text.slice(NAMED.length, colon), body: text.slice(colon + 1) };
}

function openWith(key: SecretKey, sealed: Buffer, purpose: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key.seal, sealed.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const body = sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/** Opens a sealed text; null when it was sealed with another key, for which callers have their own words. */
export function openOrNull(sealer: Pick<Sealer, 'open'>, text: string, purpose: Purpose): string | null {
  try {
    return sealer.open(text, purpose);
  } catch (error) {
    if (error instanceof SealedWithAnotherKey) return null;
    throw error;
  }
}
