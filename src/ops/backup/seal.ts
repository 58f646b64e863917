import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto';
import { BackupRefused } from './refused.ts';

/**
 * The parameters of scrypt that turn a passphrase into a key, and the check of the right passphrase: part of
 * the file.
 */
export interface Lock {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelism: number;
  readonly salt: string;
  readonly check: string;
}

/**
 * Seals the frames of one file, each for its place: none can be changed, left out, moved, or taken from
 * another file.
 */
export interface FrameSeal {
  seal(kind: number, body: Uint8Array): Uint8Array;
  /** The body of a sealed frame; null when it is not what was sealed for this place. */
  open(kind: number, sealed: Uint8Array): Uint8Array | null;
}

/** The bytes that a seal adds to a body. */
export const SEAL_BYTES = 16;

/** OWASP's advice of 2024 for scrypt: 128 MiB and a third of a second for each guess. */
const COST = 2 ** 17;
const BLOCK_SIZE = 8;
/** A file may not make the reader spend more than that: 1 GiB. */
const MOST_COST = 2 ** 20;
const KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';

/** Makes the lock of a new file, and its key. Tests ask for less than it should cost. */
export function newLock(passphrase: string, cost = COST): { readonly lock: Lock; readonly key: Uint8Array } {
  const lock = {
    cost,
    blockSize: BLOCK_SIZE,
    parallelism: 1,
    salt: randomBytes(16).toString('base64'),
  };
  const { key, check } = derive(lock, passphrase);
  return { lock: { ...lock, check: Buffer.from(check).toString('base64') }, key };
}

/** The key of a file. @throws BackupRefused when the passphrase is another one */
export function keyOf(lock: Lock, passphrase: string): Uint8Array {
  const { key, check } = derive(lock, passphrase);
  const expected = Buffer.from(lock.check, 'base64');
  if (expected.length !== check.length || !timingSafeEqual(expected, check))
    throw new BackupRefused('The passphrase is not the one that this backup was encrypted with.');
  return key;
}

/** True for a lock that this version opens without being led into spending all memory. */
export const isLock = (value: unknown): value is Lock => {
  const { cost, blockSize, parallelism, salt, check } = (value ?? {}) as Partial<Lock>;
  return (
    Number.isInteger(cost) &&
    (cost ?? 0) > 1 &&
    (cost ?? 0) <= MOST_COST &&
    blockSize === BLOCK_SIZE &&
    parallelism === 1 &&
    typeof salt === 'string' &&
    typeof check === 'string'
  );
};

function derive({ cost, blockSize, parallelism, salt }: Omit<Lock, 'check'>, passphrase: string) {
  const bytes = scryptSync(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 2 * KEY_BYTES, {
    N: cost,
    r: blockSize,
    p: parallelism,
    maxmem: 2 * 128 * cost * blockSize,
  });
  return { key: bytes.subarray(0, KEY_BYTES), check: bytes.subarray(KEY_BYTES) };
}

/**
 * Makes the seal of a file: with a key its frames are encrypted, without one they carry a checksum. `file`
 * distinguishes it from others.
 */
export function frameSeal(file: Uint8Array, key: Uint8Array | null): FrameSeal {
  let place = 0;
  const next = (kind: number): Buffer => {
    const label = Buffer.alloc(12);
    label.writeUInt32BE(kind, 0);
    label.writeBigUInt64BE(BigInt(place++), 4);
    return label;
  };
  return key === null ? checksums(file, next) : ciphers(file, key, next);
}

const checksums = (file: Uint8Array, next: (kind: number) => Buffer): FrameSeal => {
  const sum = (kind: number, body: Uint8Array): Buffer =>
    createHash('sha256').update(file).update(next(kind)).update(body).digest().subarray(0, SEAL_BYTES);
  return {
    seal: (kind, body) => Buffer.concat([body, sum(kind, body)]),
    open(kind, sealed) {
      const body = sealed.subarray(0, sealed.length - SEAL_BYTES);
      return sum(kind, body).equals(sealed.subarray(body.length)) ? body : null;
    },
  };
};

/**
 * The label of the place is the nonce: it never comes twice under a key, since the file's salt gives each
 * file another key.
 */
const ciphers = (file: Uint8Array, key: Uint8Array, next: (kind: number) => Buffer): FrameSeal => ({
  seal(kind, body) {
    const cipher = createCipheriv(CIPHER, key, next(kind)).setAAD(file);
    return Buffer.concat([cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  },
  open(kind, sealed) {
    const body = sealed.subarray(0, sealed.length - SEAL_BYTES);
    const decipher = createDecipheriv(CIPHER, key, next(kind))
      .setAAD(file)
      .setAuthTag(sealed.subarray(body.length));
    try {
      return Buffer.concat([decipher.update(body), decipher.final()]);
    } catch {
      return null;
    }
  },
});
