import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../src/platform/config/version.ts';
import { openOrCopy } from '../../src/platform/control/client.ts';
import { toBytes } from '../../src/platform/control/protocol.ts';
import { removeLeftCopies } from '../../src/platform/control/snapshots.ts';
import { type DirectoryLock, lockDirectory } from '../../src/platform/db/embedded/directory-lock.ts';
import { EmbeddedDatabase } from '../../src/platform/db/embedded/embedded.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';

let dataDir: string;
let lock: DirectoryLock;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'posthorn-copies-'));
  for (const folder of ['control', 'postgres', 'snapshots']) mkdirSync(join(dataDir, folder));
  lock = lockDirectory(dataDir);
});
afterEach(() => {
  lock.release();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Opens a copy of the database of a service that gives this answer. */
async function openAnswered(copy: string): Promise<unknown> {
  const server = Bun.serve({
    unix: join(dataDir, 'control', 'socket'),
    fetch: (request) => new Response(request.url.endsWith('/version') ? VERSION : toBytes({ value: copy })),
  });
  const opened = openOrCopy({ url: null, dataDir }, (where) => EmbeddedDatabase.open(where.dataDir, where));
  const failure = await opened.then(
    ({ database }) => database.close(),
    (error: unknown) => error,
  );
  await server.stop(true);
  return failure;
}

test('a copy that is not there is no empty database: a backup of it would hold nothing', async () => {
  const failure = await openAnswered('0123456789abcdef');
  expect(failure).toBeInstanceOf(UnavailableError);
  expect(String(failure)).toContain('The copy of the database is gone');
  expect(readdirSync(join(dataDir, 'snapshots'))).toEqual([]);
});

test('nothing but a copy is opened and removed, whatever is answered', async () => {
  const other = mkdtempSync(join(tmpdir(), 'posthorn-other-'));
  writeFileSync(join(other, 'mine'), '');
  for (const answer of [other, '..', '', `../../${other}`, '0123456789abcdef/..'])
    expect(String(await openAnswered(answer))).toContain('did not answer with the name of a copy');
  expect(readdirSync(other)).toEqual(['mine']);
  expect(existsSync(join(dataDir, 'postgres'))).toBeTrue();
  rmSync(other, { recursive: true });
});

test('a service that starts removes the copies that were left, and none that is still read', () => {
  const [left, read] = ['left', 'read'].map((name) => join(dataDir, 'snapshots', name)) as [string, string];
  for (const copy of [left, read]) mkdirSync(join(copy, 'postgres'), { recursive: true });
  const reader = lockDirectory(read);
  removeLeftCopies(dataDir);
  expect([existsSync(left), existsSync(join(read, 'postgres'))]).toEqual([false, true]);
  reader.release();
  removeLeftCopies(dataDir);
  expect(existsSync(join(dataDir, 'snapshots'))).toBeFalse();
});
