import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { asUnusable, ensureDataDirectory, ensureWritable } from './data-directory.ts';
import type { Database, Orm, Parameter } from './database.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { loadPgliteAssets } from './pglite-assets.ts';
import { RefusedWrites, type WriteRefusal } from './refused-writes.ts';
import { classify } from './sqlstate.ts';
import { SYNCED_START, SyncedFiles } from './synced-files.ts';

const NAME = 'The embedded database';

/** PostgreSQL inside the process (PGlite): one connection, one process, nothing to install. */
export class EmbeddedDatabase implements Database {
  readonly kind = 'embedded';
  readonly #orm: Orm;
  readonly #writes = new RefusedWrites();

  private constructor(
    private readonly engine: PGlite,
    private readonly lock: DirectoryLock | null,
  ) {
    this.#orm = drizzle(engine) as unknown as Orm;
  }

  /**
   * Opens or creates the database below the data directory; in memory when there is none (tests), beginning with the tar of a
   * directory if one is given.
   */
  static async open(dataDir: string | null, image?: Blob): Promise<EmbeddedDatabase> {
    if (dataDir !== null) ensureWritable(dataDir);
    const lock = dataDir === null ? null : lockDirectory(dataDir);
    const directory = dataDir === null ? null : join(dataDir, 'postgres');
    try {
      if (directory !== null) await ensureDataDirectory(directory);
      const engine = await PGlite.create({
        ...(directory === null ? {} : { fs: new SyncedFiles(directory), startParams: [...SYNCED_START] }),
        ...(image && { loadDataDir: image }),
        ...(await loadPgliteAssets()),
      });
      return new EmbeddedDatabase(engine, lock);
    } catch (error) {
      lock?.release();
      throw directory === null ? error : asUnusable(directory, error);
    }
  }

  get refusedWrite(): WriteRefusal | null {
    return this.#writes.latest;
  }

  async query<Row extends object>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    try {
      return (await this.#writes.heed(text, this.engine.query<Row>(text, parameters as unknown[]))).rows;
    } catch (error) {
      throw classify(error, NAME);
    }
  }

  async read<Result>(run: (orm: Orm) => PromiseLike<Result>): Promise<Result> {
    try {
      return await run(this.#orm);
    } catch (error) {
      throw classify(error, NAME);
    }
  }

  async script(text: string): Promise<void> {
    await this.engine.exec(text);
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.query('select 1');
    return performance.now() - start;
  }

  async close(): Promise<void> {
    await this.engine.close();
    this.lock?.release();
  }
}
