import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dependencies } from '../../package.json';
import { dataDirectoryTar } from '../../scripts/build/prepare-data-directory.ts';
import { EmbeddedDatabase } from '../../src/platform/db/embedded/embedded.ts';
import { digestOfMigrations } from './postgres.ts';

// To initialise PGlite takes 4.8 s of processor time, to load a directory that is ready 0.7 (measured). So
// one directory with the current schema is made for all tests, as the executable brings one along.

const PGLITE = dependencies['@electric-sql/pglite'];
const TAR = join(
  // Kept from run to run, as what else a run writes is not.
  process.env.TEST_CACHE ?? tmpdir(),
  `posthorn-tests-${process.getuid?.()}-pglite-${PGLITE}-${digestOfMigrations()}.tar`,
);

/** The path of a migrated data directory's tar; the first caller makes it. */
export async function embeddedImage(): Promise<string> {
  if (existsSync(TAR)) return TAR;
  const aside = `${TAR}.${process.pid}`;
  await Bun.write(aside, await dataDirectoryTar());
  // Named only when it is whole: files run side by side.
  renameSync(aside, TAR);
  return TAR;
}

/** Lays a migrated embedded database into the data directory, as the first start of the executable does. */
export async function layEmbedded(dataDir: string): Promise<void> {
  const directory = join(dataDir, 'postgres');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await new Bun.Archive(await Bun.file(await embeddedImage()).bytes()).extract(directory);
}

/** A migrated PGlite in memory: 0.7 s. */
export const embeddedDatabase = async (): Promise<EmbeddedDatabase> =>
  EmbeddedDatabase.open(null, { image: Bun.file(await embeddedImage()) });
