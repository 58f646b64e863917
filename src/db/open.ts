import type { Database } from './database.ts';
import { EmbeddedDatabase } from './embedded.ts';
import { PostgresDatabase } from './postgres.ts';

/** Where the data lives: a PostgreSQL server when there is a URL, else an embedded database in a directory. */
export interface Where {
  readonly url: string | null;
  /** null: in memory, gone with the process. */
  readonly dataDir: string | null;
}

/** Opens the database; nothing else in the service knows which of the two it is. */
export async function openDatabase(where: Where): Promise<Database> {
  return where.url === null ? EmbeddedDatabase.open(where.dataDir) : new PostgresDatabase(where.url);
}
