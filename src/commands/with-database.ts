import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';

/** Opens the configured database for one task. @throws DataDirectoryInUse while a service runs on the embedded one */
export async function withDatabase<T>(config: Config, task: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = config;
  const database = await openDatabase({ url: databaseUrl, dataDir: databaseUrl === null ? dataDir : null });
  try {
    return await task(database);
  } finally {
    await database.close();
  }
}
