import type { Database } from './database.ts';
import { EmbeddedDatabase } from './embedded/embedded.ts';
import { PostgresDatabase } from './server/postgres.ts';

/**
 * The place of the data: a PostgreSQL server when there is a URL, otherwise an embedded database in a
 * directory.
 */
export interface DatabaseLocation {
  readonly url: string | null;
  /** Null keeps the database in memory; it ends with the process. */
  readonly dataDir: string | null;
  /**
   * True for a directory that need not outlive a power cut, such as a copy: nothing in it is synced to the
   * disk.
   */
  readonly isTemporary?: boolean;
  /** Every deadline of a server is so many times as long (tests: busy machines run them too). */
  readonly patience?: number;
  /** True for a copy: where it is gone, no empty database is made in its place. */
  readonly isCopy?: boolean;
}

/** Opens the database; nothing else in the service knows which of the two it is. */
export async function openDatabase(where: DatabaseLocation): Promise<Database> {
  return where.url === null
    ? EmbeddedDatabase.open(where.dataDir, where)
    : PostgresDatabase.open(where.url, where.patience);
}
