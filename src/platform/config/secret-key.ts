import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, statSync } from 'node:fs';
import { chown, link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectoryUnusable, ensureWritable } from '../db/embedded/data-directory.ts';
import { type DirectoryLock, lockFile } from '../db/embedded/directory-lock.ts';

/** The settings that determine the source of the keys. */
export interface KeySource {
  readonly secretKey: string | null;
  /** The key before SECRET_KEY, while the one takes the place of the other. */
  readonly secretKeyPrevious: string | null;
  readonly dataDir: string;
}

/** There is no key, though one is needed. */
export class NoSecretKey extends Error {
  override readonly name = 'NoSecretKey';
}

/** The file of the key in the data directory. */
export const secretKeyFile = (dataDir: string): string => join(dataDir, 'secret-key');

/**
 * The file of the key that a rotation goes over to. It becomes the other one once the database is used with
 * it.
 */
export const nextSecretKeyFile = (dataDir: string): string => join(dataDir, 'secret-key.next');

/**
 * The keys that encrypt secrets at rest: SECRET_KEY and the one before it, or those of the data directory,
 * where one is generated on the first start. The first of them is the key of a new database. The loss of the
 * file is the loss of those secrets, so no new one is generated where the database has been used with a key
 * (`isBound`): it could not be the right one, and would hide the loss.
 * @throws NoSecretKey
 */
export async function resolveSecretKeys(
  source: KeySource,
  isBound: () => Promise<boolean> = async () => false,
): Promise<readonly [string, ...string[]]> {
  const { dataDir } = source;
  const path = secretKeyFile(dataDir);
  try {
    let keys = await presentSecretKeys(source);
    if (keys.length === 0) {
      // Another start binds the database once it has written the file: what was not there before may be there
      // now.
      if (!(await isBound())) await writeSecretKey(dataDir, newSecretKey());
      keys = await presentSecretKeys(source);
    }
    const [first, ...others] = keys;
    if (first === undefined) throw new NoSecretKey(lost(path));
    return [first, ...others];
  } catch (error) {
    throw isOfFile(error) ? new DataDirectoryUnusable(path, error) : error;
  }
}

/** The keys that are there; makes none. @throws NoSecretKey where a file holds none */
export async function presentSecretKeys({
  secretKey,
  secretKeyPrevious,
  dataDir,
}: KeySource): Promise<readonly string[]> {
  if (secretKey !== null) return secretKeyPrevious === null ? [secretKey] : [secretKey, secretKeyPrevious];
  // A key that moves from the one file to the other meanwhile is read twice, and never missed.
  const next = await readKey(nextSecretKeyFile(dataDir));
  const present = await readKey(secretKeyFile(dataDir));
  return [...new Set([present, next])].filter((key) => key !== null);
}

async function readKey(path: string): Promise<string | null> {
  const key = await read(path);
  if (key !== null && key.length < 32)
    throw new NoSecretKey(`${path} holds no key. Restore it, or set SECRET_KEY.`);
  return key;
}

/** Generates a random key. */
export const newSecretKey = (): string => randomBytes(32).toString('base64url');

const lost = (path: string): string =>
  `There is no secret key at ${path}, though this database has been used with one. Restore the file, or set SECRET_KEY to its content. ` +
  'If it is lost for good: `posthorn secret-key replace`.';

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Puts a key into the data directory unless there is one. A temporary file is linked: the file appears
 * complete or not at all, and only one of two first starts wins.
 */
export async function writeSecretKey(dataDir: string, key: string): Promise<void> {
  await linkInto(secretKeyFile(dataDir), dataDir, key);
}

/**
 * Puts the key that a rotation goes over to into the data directory, unless there is one, and answers the one
 * that is there.
 */
export async function writeNextSecretKey(dataDir: string, key: string): Promise<string> {
  const path = nextSecretKeyFile(dataDir);
  await linkInto(path, dataDir, key);
  // The service has to read what root has written beside it.
  const { uid, gid } = await stat(secretKeyFile(dataDir));
  if (process.getuid?.() === 0) await chown(path, uid, gid);
  return (await readKey(path)) ?? key;
}

/** The longest wait of a rotation for an instance that moves a key. */
const PATIENCE_MS = 5_000;

/**
 * Locks the files of the keys for this process, during a rotation; null while another process holds the lock.
 * Files are moved by name: without the lock, a process that has looked at the next key and was suspended
 * could move another one that lies there by then.
 * @throws DataDirectoryUnusable
 */
export function lockSecretKeys(dataDir: string, waitMs = PATIENCE_MS): DirectoryLock | null {
  const path = `${secretKeyFile(dataDir)}.lock`;
  const lock = lockFile(path, waitMs);
  if (!lock) return null;
  // The service has to open what root has made beside it.
  if (process.getuid?.() === 0 && existsSync(secretKeyFile(dataDir))) {
    const { uid, gid } = statSync(secretKeyFile(dataDir));
    chownSync(path, uid, gid);
  }
  return { release: () => lock.close() };
}

/**
 * Puts the key of a rotation that died in the place of the previous one, unless a rotation is under way: that
 * does it itself.
 */
export async function settleWhenFree(dataDir: string, current: string): Promise<void> {
  if ((await read(nextSecretKeyFile(dataDir))) !== current) return;
  const lock = lockSecretKeys(dataDir, 0);
  try {
    if (lock) await settleSecretKey(dataDir, current);
  } finally {
    lock?.release();
  }
}

/**
 * Puts the key of a rotation in the place of the previous one, once the database uses it. The caller has the
 * lock.
 */
export async function settleSecretKey(dataDir: string, current: string): Promise<void> {
  const next = nextSecretKeyFile(dataDir);
  if ((await read(next)) !== current) return;
  await rename(next, secretKeyFile(dataDir));
  await syncFolder(dataDir);
}

/**
 * Removes the key of a rotation that has changed nothing. The caller has the lock, and knows that no database
 * uses the key.
 */
export async function discardNextSecretKey(dataDir: string): Promise<void> {
  await rm(nextSecretKeyFile(dataDir), { force: true });
  await syncFolder(dataDir);
}

async function linkInto(path: string, dataDir: string, key: string): Promise<void> {
  ensureWritable(dataDir);
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await write(aside, key);
    await link(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(aside, { force: true });
  }
  await syncFolder(dataDir);
}

/** Else a power cut could take back the name of a file whose content is safe. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
const isOfFile = (error: unknown): boolean => /^E[A-Z]+$/.test(codeOf(error) ?? '');
