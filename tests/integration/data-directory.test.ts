import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from '../../src/ops/commands/explain.ts';
import { resolveSecretKeys } from '../../src/platform/config/secret-key.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { layEmbedded } from '../support/embedded.ts';
import { COMMAND, spawnService, startService } from '../support/service.ts';

const NOBODY = 65_532;

let home: string;
let dataDir: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-directory-'));
  dataDir = join(home, 'data');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The message of the command line for an error; nothing without one. */
const told = async (attempt: () => Promise<unknown>): Promise<string> =>
  attempt().then(
    () => '',
    (error: unknown) => explain(error),
  );
const open = (): Promise<string> => told(() => openDatabase({ url: null, dataDir }));
const IN_USE = /^Another Posthorn already uses the data directory .+\.\n$/;

test('a mask that takes the rights of the owner away is named before anything is made', async () => {
  const before = process.umask(0o777);
  try {
    expect(await open()).toMatch(
      /^The data directory would get files that their owner cannot use: .+ Run `umask 077`/,
    );
  } finally {
    process.umask(before);
  }
  expect(readdirSync(home)).toEqual([]);
});

test('too few open files are named with the limit to raise', () => {
  const error = Object.assign(new Error("EMFILE: too many open files, open '/x'"), {
    code: 'EMFILE',
    syscall: 'open',
  });
  expect(explain(error)).toMatch(
    /^EMFILE: too many open files, open '\/x'\. Raise the limit of open files: .+\n$/,
  );
});

/** The service, with a limit of open files. */
const withFiles = (most: number) => ({
  command: ['/bin/sh', '-c', `ulimit -n ${most}; exec "$0" "$@"`, ...COMMAND],
  env: { PROFILE: 'development' },
  dataDir,
});

test('a process that may open 400 files makes its database, which has a thousand', async () => {
  await using service = await startService(withFiles(400));
  expect(await service.stop()).toBe(0);
});

test('a database that needs more open files than there may be says so', async () => {
  await using service = await spawnService(withFiles(40));
  expect(await service.ended).toBe(1);
  expect(service.output()).toMatch(/EMFILE.+Raise the limit of open files: /);
});

describe('the data directory belongs to one process', () => {
  test('also when its lock was deleted, or replaced, and until it is closed', async () => {
    await layEmbedded(dataDir);
    const first = await openDatabase({ url: null, dataDir });
    expect(await open()).toMatch(IN_USE);
    rmSync(join(dataDir, 'lock'));
    expect(await open()).toMatch(IN_USE);
    writeFileSync(join(dataDir, 'lock'), '');
    expect(await open()).toMatch(IN_USE);
    renameSync(join(dataDir, 'lock'), join(dataDir, 'lock.old'));
    expect(await open()).toMatch(IN_USE);
    await first.close();
    const second = await openDatabase({ url: null, dataDir });
    await second.close();
  });

  test('a service that was killed leaves nothing locked, one that runs is alone whatever is deleted', async () => {
    {
      await using killed = await startService({ dataDir, fromNothing: true });
      await killed.kill();
    }
    await using first = await startService({ dataDir });
    rmSync(join(dataDir, 'lock'));
    await using second = await spawnService({ dataDir });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain('Another Posthorn already uses the data directory');
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
  });
});

for (const file of ['PG_VERSION', 'global/pg_control', 'base/5/1259'])
  test(`a database whose file ${file} is empty is reported in a sentence, which names a remedy`, async () => {
    await layEmbedded(dataDir);
    truncateSync(join(dataDir, 'postgres', file));
    expect(await open()).toMatch(
      /^The embedded database in \S+ cannot be opened: its files are damaged, .+ `posthorn restore`.+\n$/,
    );
  });

describe('a data directory that cannot be written is reported in a sentence', () => {
  const NOT_WRITABLE = /^The data directory cannot be written: \S+ \(E\w+\)\. .+ another DATA_DIR\.\n$/;

  /** Does it as a user that permissions hold for: root may write anywhere. */
  async function asAnybody<Result>(act: () => Promise<Result>): Promise<Result> {
    const isRoot = process.geteuid?.() === 0;
    chmodSync(home, 0o755);
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      return await act();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }

  test('where there is none yet, and where there is one', async () => {
    expect(await asAnybody(open)).toMatch(NOT_WRITABLE);
    expect(
      await asAnybody(() =>
        told(() => resolveSecretKeys({ secretKey: null, secretKeyPrevious: null, dataDir })),
      ),
    ).toMatch(NOT_WRITABLE);
    mkdirSync(dataDir, { mode: 0o555 });
    chmodSync(dataDir, 0o555);
    expect(await asAnybody(open)).toMatch(NOT_WRITABLE);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('where a file is in the way of a folder, or a folder in the way of a file', async () => {
    const IN_THE_WAY =
      /^The data directory has a file where a folder belongs, or .+: \S+ \(\w+\)\. Move it away.+\n$/;
    const key = () => told(() => resolveSecretKeys({ secretKey: null, secretKeyPrevious: null, dataDir }));
    writeFileSync(dataDir, '');
    expect([await open(), await key()]).toEqual([
      expect.stringMatching(IN_THE_WAY),
      expect.stringMatching(IN_THE_WAY),
    ]);
    rmSync(dataDir);
    mkdirSync(join(dataDir, 'secret-key'), { recursive: true });
    expect(await key()).toMatch(IN_THE_WAY);
    mkdirSync(join(dataDir, 'lock'));
    expect(await open()).toMatch(IN_THE_WAY);
    rmSync(join(dataDir, 'lock'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres'), '');
    expect(await open()).toMatch(IN_THE_WAY);
  });

  const mounted = (octets: string): boolean =>
    process.geteuid?.() === 0 &&
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${octets}`, 'tmpfs', home]).exitCode === 0;
  const NO_ROOM = /^The data directory has no room left on its disk: \S+ \(ENOSPC\)\. Make room .+\n$/;
  const canMount = process.platform === 'linux' && process.geteuid?.() === 0;
  if (!canMount) console.warn('Not root on Linux: starts on a full disk are not tried.');

  test.skipIf(!canMount)('where the disk is full, or too small for a new database', async () => {
    expect(mounted('1m')).toBeTrue();
    try {
      expect(await open()).toMatch(NO_ROOM);
      expect(readdirSync(dataDir)).toEqual(['lock']);
      expect(() => writeFileSync(join(home, 'fill'), Buffer.alloc(2_000_000))).toThrow('ENOSPC');
      expect(await open()).toMatch(NO_ROOM);
      expect(
        await told(() => resolveSecretKeys({ secretKey: null, secretKeyPrevious: null, dataDir })),
      ).toMatch(NO_ROOM);
      expect(readdirSync(dataDir)).toEqual(['lock']);
    } finally {
      Bun.spawnSync(['umount', '-l', home]);
    }
  });

  test('where the database in it belongs to another user', async () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    chmodSync(dataDir, 0o777);
    chmodSync(join(dataDir, 'postgres'), 0o555);
    const sentence = await asAnybody(open);
    expect(sentence).toMatch(NOT_WRITABLE);
    expect(sentence).toContain(join(dataDir, 'postgres'));
  });
});
