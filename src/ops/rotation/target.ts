import { existsSync } from 'node:fs';
import {
  type KeySource,
  newSecretKey,
  nextSecretKeyFile,
  secretKeyFile,
  writeNextSecretKey,
} from '../../platform/config/secret-key.ts';
import { type Keys, type SecretKey, secretKeyOf } from '../../platform/crypto/secret-key.ts';
import type { FormerKey } from '../../platform/db/canary.ts';

const HOW = [
  'To change to a new key:',
  '  1. On every instance set SECRET_KEY to a new key (`openssl rand -base64 32` prints one) and SECRET_KEY_PREVIOUS to the current one.',
  '  2. Restart them, one after the other. They keep using the current key, and can open secrets of the new one.',
  '  3. Run `posthorn secret-key rotate` with the same settings.',
  '',
].join('\n');

/**
 * The work of a rotation: to start with another key, to continue one that was begun, or nothing, with the
 * reason.
 */
export type Target =
  | { readonly next: SecretKey }
  | { readonly goesOn: true }
  | { readonly nothing: string; readonly isFine: boolean };

/**
 * The key that a rotation goes over to: SECRET_KEY, where the database is used with SECRET_KEY_PREVIOUS;
 * where the key is in the data directory, a new one, which is put beside it. @throws DataDirectoryUnusable
 */
export async function targetOf(
  source: KeySource,
  { current }: Keys,
  former: readonly FormerKey[],
): Promise<Target> {
  const isUnfinished = former.some(({ resealed_at: at }) => at === null);
  const { secretKey, secretKeyPrevious, dataDir } = source;
  if (secretKey !== null) {
    const wanted = secretKeyOf(secretKey);
    if (former.some(({ id }) => id === wanted.id))
      return {
        nothing: `SECRET_KEY is a key that this database was used with before. ${HOW}`,
        isFine: false,
      };
    if (wanted.id !== current.id) return { next: wanted };
    if (isUnfinished) return { goesOn: true };
    if (secretKeyPrevious === null)
      return { nothing: `The database already uses SECRET_KEY. ${HOW}`, isFine: false };
    const done = 'The database uses SECRET_KEY, and SECRET_KEY_PREVIOUS is no longer needed.\n';
    return { nothing: done, isFine: true };
  }
  const isBegun = existsSync(nextSecretKeyFile(dataDir));
  if (isUnfinished && !isBegun) return { goesOn: true };
  if (!isBegun && !existsSync(secretKeyFile(dataDir)))
    return { nothing: `There is no secret key at ${secretKeyFile(dataDir)}. ${HOW}`, isFine: false };
  return { next: secretKeyOf(await writeNextSecretKey(dataDir, newSecretKey())) };
}
