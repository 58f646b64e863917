import pino from 'pino';
import type { Config } from '../../../platform/config/config.ts';
import { openForCommand } from '../../../platform/control/client.ts';
import type { Database } from '../../../platform/db/database.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { openClock } from '../../../platform/time/database-clock.ts';

/**
 * Opens the configured database for one task, through the service that has it where one runs on the embedded
 * one. @throws DataDirectoryInUse when that one cannot be asked
 */
export async function withDatabase<T>(config: Config, task: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = config;
  const database = await openForCommand({ url: databaseUrl, dataDir: databaseUrl === null ? dataDir : null });
  try {
    return await task(database);
  } finally {
    await database.close();
  }
}

/** The same with the present schema and the database's own time, for a task that changes something. */
export const withClockedDatabase = <T>(
  config: Config,
  task: (database: Database, now: () => number) => Promise<T>,
): Promise<T> =>
  withDatabase(config, async (database) => {
    await migrate(database);
    const clock = await openClock(database, pino({ enabled: false }));
    try {
      return await task(database, () => clock.now());
    } finally {
      clock.close();
    }
  });
