import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { drizzle } from 'drizzle-orm/pglite';
import { UnavailableError } from '../../errors/unavailable.ts';
import type { Database, Orm, Parameter, QueryOptions } from '../database.ts';
import { RefusedWrites, type WriteRefusal } from '../refused-writes.ts';
import { classify } from '../sqlstate.ts';
import { WorkCount } from '../work-count.ts';
import { asUnusable, ensureDataDirectory, ensureWritable } from './data-directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { DiskRoom } from './disk-room.ts';
import { type Engine, type EngineEnded, GuardedEngine } from './guarded-engine.ts';
import { fsBundle, loadPgliteAssets } from './pglite-assets.ts';
import { SMALL_START, SYNCED_START, SyncedFiles } from './synced-files.ts';
import { TellingEngine } from './telling-engine.ts';

const NAME = 'The embedded database';

/** PostgreSQL inside the process (PGlite): one connection, one process, nothing to install. */
export class EmbeddedDatabase implements Database {
  readonly kind = 'embedded';
  readonly #orm: Orm;
  readonly #writes = new RefusedWrites();
  readonly #work = new WorkCount();

  /** @param lock that of its directory, where this process holds it */
  constructor(
    readonly engine: Engine,
    private readonly lock: DirectoryLock | null,
  ) {
    this.#orm = drizzle(engine as PGlite) as unknown as Orm;
  }

  /**
   * Opens or creates the database below the data directory; in memory when there is none (tests), beginning
   * with the tar of a directory if one is given. A temporary one is not synced: PostgreSQL alone syncs every
   * file of a copy when it opens it. A copy that is gone is not replaced by an empty database.
   */
  static async open(
    dataDir: string | null,
    {
      image,
      isTemporary = false,
      isCopy = false,
    }: { readonly image?: Blob; readonly isTemporary?: boolean; readonly isCopy?: boolean } = {},
  ): Promise<EmbeddedDatabase> {
    if (dataDir !== null) ensureWritable(dataDir);
    const lock = dataDir === null ? null : lockDirectory(dataDir);
    const directory = dataDir === null ? null : join(dataDir, 'postgres');
    let files: SyncedFiles | null = null;
    try {
      if (isCopy && directory !== null && !existsSync(directory))
        throw new UnavailableError('The copy of the database is gone: the service has restarted. Try again.');
      if (directory !== null) await ensureDataDirectory(directory);
      files = directory === null || isTemporary ? null : new SyncedFiles(directory);
      const engine = new TellingEngine({
        startParams: [...(files ? SYNCED_START : SMALL_START)],
        ...(files && { fs: files }),
        ...(directory !== null && isTemporary && { fs: new NodeFS(directory) }),
        ...(image && { loadDataDir: image }),
        // These files wait for the compiled engine themselves, and an existing database needs no
        // initialisation.
        ...(files && existsSync(join(files.directory, 'PG_VERSION'))
          ? { fsBundle: fsBundle() }
          : await loadPgliteAssets()),
      });
      await Promise.race([engine.waitReady, ...(files ? [files.failed] : [])]);
      engine.watchLoop();
      files?.started();
      return new EmbeddedDatabase(
        files ? new GuardedEngine(engine, new DiskRoom(files.directory)) : engine,
        lock,
      );
    } catch (error) {
      lock?.release();
      throw directory === null ? error : asUnusable(directory, files?.unsynced ?? error);
    }
  }

  get refusedWrite(): WriteRefusal | null {
    return this.#guard?.isFull ? 'full' : this.#writes.latest;
  }

  get worked(): number {
    return this.#work.value;
  }

  /** Resolves when PostgreSQL has ended inside this process, which cannot continue then. */
  get ended(): Promise<EngineEnded> {
    return this.#guard?.ended ?? new Promise(() => {});
  }

  /** The engine for statements of other processes, which count as work of this one. */
  get shared(): Engine {
    const { engine } = this;
    return {
      query: (...asked) => this.#work.during(() => engine.query(...asked)) as ReturnType<typeof engine.query>,
      exec: (...asked) => this.#work.during(() => engine.exec(...asked)),
      close: () => engine.close(),
      ...(engine.holdLog && { holdLog: () => engine.holdLog?.() ?? (() => {}) }),
    } as Engine;
  }

  get #guard(): GuardedEngine | null {
    return this.engine instanceof GuardedEngine ? this.engine : null;
  }

  async query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    { isRoutine = false }: QueryOptions = {},
  ): Promise<Row[]> {
    const ask = () =>
      this.#told(this.#writes.heed(text, this.engine.query<Row>(text, parameters as unknown[])));
    return (await (isRoutine ? ask() : this.#work.during(ask))).rows;
  }

  read<Result>(run: (orm: Orm) => PromiseLike<Result>): Promise<Result> {
    return this.#work.during(() => this.#told(this.#writes.heed('', Promise.resolve(run(this.#orm)))));
  }

  async script(text: string): Promise<void> {
    await this.#work.during(() => this.#told(this.engine.exec(text)));
  }

  /** Answers the rows of a query in the text form of COPY. */
  async copyOut(select: string): Promise<Uint8Array<ArrayBuffer>> {
    const { blob } = await this.#told(this.engine.query(`copy (${select}) to '/dev/blob'`));
    return blob ? new Uint8Array(await blob.arrayBuffer()) : new Uint8Array();
  }

  /** Inserts rows in that form into `table (columns)`. */
  async copyIn(into: string, rows: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#told(this.engine.query(`copy ${into} from '/dev/blob'`, [], { blob: new Blob([rows]) }));
  }

  async #told<T>(running: Promise<T>): Promise<T> {
    try {
      return await running;
    } catch (error) {
      throw classify(error, NAME);
    }
  }

  session(): null {
    return null;
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
