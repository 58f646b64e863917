import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveSecretKey } from '../../src/secret-key.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-key-'));
});
afterEach(() => rmSync(home, { recursive: true }));

test('a key that is set is used, and nothing is written', async () => {
  const dataDir = join(home, 'data');
  expect(await resolveSecretKey({ secretKey: 'k'.repeat(32), dataDir })).toBe('k'.repeat(32));
  expect(() => statSync(dataDir)).toThrow();
});

test('the first start generates a key that only its owner may read, and later starts find it again', async () => {
  const dataDir = join(home, 'data');
  const key = await resolveSecretKey({ secretKey: null, dataDir });
  expect(Buffer.from(key, 'base64url')).toHaveLength(32);
  expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
  expect(await resolveSecretKey({ secretKey: null, dataDir })).toBe(key);
});

test('a file without a key stops the start rather than being written over', async () => {
  writeFileSync(join(home, 'secret-key'), '');
  await expect(resolveSecretKey({ secretKey: null, dataDir: home })).rejects.toThrow('holds no key');
  expect(readFileSync(join(home, 'secret-key'), 'utf8')).toBe('');
});

test('first starts at the same moment agree on one key and leave nothing else behind', async () => {
  const starts = Array.from({ length: 20 }, () => resolveSecretKey({ secretKey: null, dataDir: home }));
  expect(new Set(await Promise.all(starts)).size).toBe(1);
  expect(readdirSync(home)).toEqual(['secret-key']);
});
