import { createHash } from 'node:crypto';
import packed from './common-passwords.txt' with { type: 'text' };

// The 20,000 most common passwords of stolen lists that have at least twelve characters (ASVS 2.1.7), asked without a network. Of each the
// first four octets of its SHA-256 are kept, in order: 80 kB, and a good password is taken for one of them once in 200,000.

const BYTES = 4;

const keyOf = (password: string): number => createHash('sha256').update(password).digest().readUInt32BE(0);

/** Packs passwords, which are in lower case and NFC already, as the file has them. */
export function packPasswords(passwords: readonly string[]): string {
  const keys = Uint32Array.from(new Set(passwords.map(keyOf))).sort();
  const octets = Buffer.alloc(keys.length * BYTES);
  for (const [at, key] of keys.entries()) octets.writeUInt32BE(key, at * BYTES);
  return octets.toString('base64');
}

let unpacked: Buffer | undefined;

/** True for a password that is among the most common ones, however its letters are cased. */
export function isCommonPassword(password: string): boolean {
  unpacked ??= Buffer.from(packed, 'base64');
  const key = keyOf(password.normalize('NFC').toLowerCase());
  let [low, high] = [0, unpacked.length / BYTES];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (unpacked.readUInt32BE(middle * BYTES) < key) low = middle + 1;
    else high = middle;
  }
  return low * BYTES < unpacked.length && unpacked.readUInt32BE(low * BYTES) === key;
}
