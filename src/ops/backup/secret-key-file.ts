import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KeySource, writeSecretKey } from '../../platform/config/secret-key.ts';
import { BackupRefused } from './refused.ts';

/**
 * Sees to it that a restored database is used with the key of its secrets: where SECRET_KEY says none, the
 * key is written into the data directory. Answers how to take that back. @throws BackupRefused where another
 * key is in use
 */
export async function placeSecretKey(
  { secretKey, secretKeyPrevious, dataDir }: KeySource,
  key: string | null,
  /** The backup that the key is from; null for a database that is moved. */
  file: string | null = null,
): Promise<() => void> {
  const nothing = (): void => {};
  if (key === null || secretKey === key || secretKeyPrevious === key) return nothing;
  const whose = file === null ? "the database's" : "the backup's";
  if (secretKey !== null)
    throw new BackupRefused(
      `SECRET_KEY differs from ${whose}, so the secrets could not be opened. Set it to the output of \`posthorn restore --print-secret-key ${file ?? '<a backup>'}\`.`,
    );
  const path = join(dataDir, 'secret-key');
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === key) return nothing;
    throw new BackupRefused(
      `${path} holds another key than ${whose}. Move it away, or choose another folder.`,
    );
  }
  await writeSecretKey(dataDir, key);
  return () => rmSync(path, { force: true });
}
