import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';

/**
 * Makes an embedded database with the current schema; answers its directory as a tar of 29 MB. It was closed,
 * so that the first start recovers nothing.
 */
export async function dataDirectoryTar(): Promise<Uint8Array<ArrayBuffer>> {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-build-'));
  const dataDir = join(home, 'postgres');
  try {
    const database = await openDatabase({ url: null, dataDir: home });
    await migrate(database);
    await database.close();
    await shrink(dataDir);
    // Without its start PGlite is no more than what reads the files.
    const files = await PGlite.create({ dataDir, noInitDb: true });
    const tar = await files.dumpDataDir('none');
    await files.close();
    return new Uint8Array(await tar.arrayBuffer());
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * One of three databases is used: new databases would be copied from the others, 600 files. The end of the
 * log is enough.
 */
const WITHOUT_THE_REST = [
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
  'select pg_switch_wal()',
  'checkpoint',
];

async function shrink(dataDir: string): Promise<void> {
  const startParams = [...PGlite.defaultStartParams, '-c', 'wal_recycle=off'];
  const engine = await PGlite.create({ dataDir, startParams });
  for (const statement of WITHOUT_THE_REST) await engine.exec(statement);
  await engine.close();
}

/** The same, packed: 29 MB become 0.9. */
export async function prepareDataDirectory(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await Bun.zstdCompress(await dataDirectoryTar(), { level: 19 }));
}
