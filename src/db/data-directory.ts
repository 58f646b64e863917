import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { loadPgliteAssets } from './pglite-assets.ts';
import { preparedDataDirectory } from './prepared.ts';
import { syncFolder } from './synced-files.ts';

/**
 * Makes the directory of the embedded database where there is none. It is made aside and then renamed, so that a first
 * start that is cut off half-way leaves nothing that a second one would take for a database. The caller holds the lock.
 *
 * Unpacking the prepared one takes 0.2 s, having PostgreSQL initialise one 3.4 s (measured on two cores).
 */
export async function ensureDataDirectory(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  const aside = `${directory}.new`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  if (preparedDataDirectory === null) await initialise(aside);
  else await unpack(preparedDataDirectory, aside);
  await syncFolder(aside);
  renameSync(aside, directory);
}

async function initialise(directory: string): Promise<void> {
  const engine = await PGlite.create({ dataDir: directory, ...(await loadPgliteAssets()) });
  await engine.close();
}

async function unpack(archive: string, directory: string): Promise<void> {
  const tar = Bun.zstdDecompressSync(await Bun.file(archive).bytes());
  await new Bun.Archive(tar).extract(directory);
}
