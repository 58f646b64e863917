import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectoryUnusable, ensureWritable } from '../db/data-directory.ts';

/** The settings that determine the source of the key. */
interface Source {
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** There is no key to be had, though one is needed. */
export class NoSecretKey extends Error {
  override readonly name = 'NoSecretKey';
}

/**
 * The key that encrypts secrets at rest: SECRET_KEY, or one that is generated into the data directory on the first start.
 * Losing the file means losing those secrets, so that it is never overwritten, nor made anew where the database has been used
 * with one (`isBound`): that could not be the right one, and would hide that it is lost. @throws NoSecretKey
 */
export async function resolveSecretKey(
  { secretKey, dataDir }: Source,
  isBound: () => Promise<boolean> = async () => false,
): Promise<string> {
  if (secretKey !== null) return secretKey;
  const path = join(dataDir, 'secret-key');
  try {
    let key = await read(path);
    if (key === null) {
      // Another start binds the database once it has written the file: what was not there before may be there now.
      key = (await isBound()) ? await read(path) : await generate(dataDir, path);
      if (key === null) throw new NoSecretKey(lost(path));
    }
    if (key.length < 32) throw new NoSecretKey(`${path} holds no key. Restore it, or set SECRET_KEY.`);
    return key;
  } catch (error) {
    throw isOfFile(error) ? new DataDirectoryUnusable(path, error) : error;
  }
}

const lost = (path: string): string =>
  `There is no secret key at ${path}, though this database has been used with one. Restore the file, or set SECRET_KEY to what it held. ` +
  'If it is lost for good: `posthorn secret-key replace`.';

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function generate(dataDir: string, path: string): Promise<string> {
  await writeSecretKey(dataDir, randomBytes(32).toString('base64url'));
  return await readFile(path, 'utf8');
}

/**
 * Puts a key into the data directory unless there is one. A temporary file is linked: the file appears complete or not at all, and only
 * one of two first starts wins.
 */
export async function writeSecretKey(dataDir: string, key: string): Promise<void> {
  ensureWritable(dataDir);
  const path = join(dataDir, 'secret-key');
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await write(aside, key);
    await link(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(aside, { force: true });
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
