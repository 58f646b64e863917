import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { SYNCED_START, SyncedFiles } from '../../src/platform/db/embedded/synced-files.ts';
import { giveBackZeros } from '../../src/platform/db/embedded/zero-pages.ts';
import { layEmbedded } from '../support/embedded.ts';

const BLOCK = 65_536;
const onLinux = process.platform === 'linux';

/** Octets of the process that no file backs. */
const resident = (): number =>
  1_024 * Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

test.if(onLinux)('memory that holds zeros is given back, and all else stays as it is', () => {
  const memory = new WebAssembly.Memory({ initial: 512 });
  const octets = new Uint8Array(memory.buffer).fill(0);
  const kept = [0, 5 * BLOCK - 1, 5 * BLOCK, 300 * BLOCK + 4_096, octets.length - 1];
  for (const at of kept) octets[at] = 7;
  const before = resident();
  expect(giveBackZeros(memory.buffer)).toBe(octets.length - 5 * BLOCK);
  expect(before - resident()).toBeGreaterThan(octets.length / 2);
  expect(octets.reduce((sum, octet) => sum + octet)).toBe(7 * kept.length);
  expect(kept.map((at) => octets[at])).toEqual(kept.map(() => 7));
  // Memory that was given back can be written again.
  octets.fill(9, 100 * BLOCK, 101 * BLOCK);
  expect(octets.reduce((sum, octet) => sum + octet)).toBe(7 * kept.length + 9 * BLOCK);
});

test.if(onLinux)('an engine works on with shared memory that was given back', async () => {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-zeros-'));
  try {
    await layEmbedded(home);
    const files = new SyncedFiles(join(home, 'postgres'));
    const engine = await PGlite.create({ fs: files, startParams: [...SYNCED_START] });
    await engine.exec('create table kept (n integer); insert into kept select generate_series(1, 20000)');
    // The shared buffers have 32 MB, of which a small database needs a part.
    expect(files.giveBackZeros()).toBeGreaterThan(20_000_000);
    await engine.exec('insert into kept select generate_series(20001, 200000); checkpoint');
    expect((await engine.query('select count(*)::integer as n, sum(n)::text as sum from kept')).rows).toEqual(
      [{ n: 200_000, sum: '20000100000' }],
    );
    await engine.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
