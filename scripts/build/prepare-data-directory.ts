import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';

/** Makes an embedded database with the current schema; answers its directory as a tar of 41 MB. */
export async function dataDirectoryTar(): Promise<Uint8Array<ArrayBuffer>> {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-build-'));
  try {
    const database = await openDatabase({ url: null, dataDir: home });
    await migrate(database);
    await database.close();
    const engine = await PGlite.create(join(home, 'postgres'));
    const tar = await engine.dumpDataDir('none');
    await engine.close();
    return new Uint8Array(await tar.arrayBuffer());
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The same, packed: 41 MB become 1.8. */
export async function prepareDataDirectory(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(Bun.zstdCompressSync(await dataDirectoryTar(), { level: 19 }));
}
