import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type KeySource,
  lockSecretKeys,
  newSecretKey,
  nextSecretKeyFile,
  resolveSecretKeys,
  secretKeyFile,
  settleWhenFree,
  writeNextSecretKey,
  writeSecretKey,
} from '../../src/platform/config/secret-key.ts';

/** The first key of a source, with which a new database is used. */
const resolveSecretKey = async (
  source: Omit<KeySource, 'secretKeyPrevious'>,
  isBound?: () => Promise<boolean>,
): Promise<string> => (await resolveSecretKeys({ ...source, secretKeyPrevious: null }, isBound))[0];

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-key-'));
});
afterEach(() => rmSync(home, { recursive: true }));

test('SECRET_KEY is used when set, and nothing is written', async () => {
  const dataDir = join(home, 'data');
  expect(await resolveSecretKey({ secretKey: 'k'.repeat(32), dataDir })).toBe('k'.repeat(32));
  expect(() => statSync(dataDir)).toThrow();
});

test('a secret key is generated at the first start, readable by its owner only, and found again', async () => {
  const dataDir = join(home, 'data');
  const key = await resolveSecretKey({ secretKey: null, dataDir });
  expect(Buffer.from(key, 'base64url')).toHaveLength(32);
  expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
  expect(await resolveSecretKey({ secretKey: null, dataDir })).toBe(key);
});

test('a secret key file without a key stops the start instead of being overwritten', async () => {
  writeFileSync(join(home, 'secret-key'), '');
  await expect(resolveSecretKey({ secretKey: null, dataDir: home })).rejects.toThrow('holds no key');
  expect(readFileSync(join(home, 'secret-key'), 'utf8')).toBe('');
});

test('a secret key is not made where the database has been used with one: the sentence says what to do, nothing is left', async () => {
  const start = resolveSecretKey({ secretKey: null, dataDir: home }, async () => true);
  await expect(start).rejects.toThrow('posthorn secret-key replace');
  expect(readdirSync(home)).toEqual([]);
  const set = { secretKey: 'k'.repeat(32), dataDir: home };
  expect(await resolveSecretKey(set, async () => true)).toBe(set.secretKey);
});

test('a secret key is agreed on by simultaneous first starts', async () => {
  const starts = Array.from({ length: 20 }, () => resolveSecretKey({ secretKey: null, dataDir: home }));
  expect(new Set(await Promise.all(starts)).size).toBe(1);
  expect(readdirSync(home)).toEqual(['secret-key']);
});

test('the key of a rotation is moved by one process at a time, and not while a rotation goes on', async () => {
  await writeSecretKey(home, newSecretKey());
  const next = await writeNextSecretKey(home, newSecretKey());
  const now = () => readFileSync(secretKeyFile(home), 'utf8');
  const rotation = lockSecretKeys(home);
  await settleWhenFree(home, next);
  expect([now() === next, lockSecretKeys(home, 0)]).toEqual([false, null]);
  rotation?.release();
  await settleWhenFree(home, next);
  expect(now()).toBe(next);
});

test('a key that comes next while the one before is moved stays where it is', async () => {
  await writeSecretKey(home, newSecretKey());
  for (let round = 0; round < 50; round++) {
    const current = await writeNextSecretKey(home, newSecretKey());
    let after = '';
    const rotateOn = async () => {
      await settleWhenFree(home, current);
      if (readFileSync(secretKeyFile(home), 'utf8') === current)
        after = await writeNextSecretKey(home, newSecretKey());
    };
    await Promise.all(Array.from({ length: 8 }, rotateOn));
    expect(after).not.toBe('');
    expect(readFileSync(secretKeyFile(home), 'utf8')).toBe(current);
    expect(readFileSync(nextSecretKeyFile(home), 'utf8')).toBe(after);
    rmSync(nextSecretKeyFile(home));
  }
});
