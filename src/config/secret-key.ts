import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureWritable } from '../db/data-directory.ts';

/** The settings that determine the source of the key. */
interface Source {
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/**
 * The key that encrypts secrets at rest: SECRET_KEY, or one that is generated into the data directory on the first start.
 * Losing the file means losing those secrets, so that it is never overwritten.
 */
export async function resolveSecretKey({ secretKey, dataDir }: Source): Promise<string> {
  if (secretKey !== null) return secretKey;
  const path = join(dataDir, 'secret-key');
  const key = (await read(path)) ?? (await generate(dataDir, path));
  if (key.length < 32) throw new Error(`${path} holds no key. Restore it, or set SECRET_KEY.`);
  return key;
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a temporary file and links it: the file appears complete or not at all, and only one of two first starts wins. */
async function generate(dataDir: string, path: string): Promise<string> {
  ensureWritable(dataDir);
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await write(aside, randomBytes(32).toString('base64url'));
  try {
    await link(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(aside);
  }
  return await readFile(path, 'utf8');
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
