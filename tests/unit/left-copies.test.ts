import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snapshotFolder } from '../../src/platform/control/protocol.ts';
import { Snapshots } from '../../src/platform/control/snapshots.ts';
import { lockDirectory } from '../../src/platform/db/embedded/directory-lock.ts';

// Copies of an embedded database whose commands were killed, as the next copy finds them.

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'posthorn-copies-'));
  mkdirSync(join(dataDir, 'postgres', 'pg_wal'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17');
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const { signal } = new AbortController();
const engine = { query: async () => ({ rows: [{ labelfile: 'label' }] }) } as never;

test('the next copy removes an unlocked one, and leaves one that is read or was just given out', async () => {
  let now = 0;
  const snapshots = new Snapshots(engine, dataDir, () => now);
  const copies = () => readdirSync(snapshotFolder(dataDir)).sort();
  const left = await snapshots.take(signal);
  const isRead = await snapshots.take(signal);
  const lock = lockDirectory(join(snapshotFolder(dataDir), isRead));
  now = 9_999;
  const given = await snapshots.take(signal);
  expect(copies()).toEqual([left, isRead, given].sort());

  now = 10_000;
  const next = await snapshots.take(signal);
  expect(copies()).toEqual([isRead, given, next].sort());

  lock.release();
  now = 30_000;
  const last = await snapshots.take(signal);
  expect(copies()).toEqual([last]);
});
