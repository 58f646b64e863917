import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openForCommand } from '../../../platform/control/client.ts';
import type { Database } from '../../../platform/db/database.ts';
import { DataDirectoryInUse } from '../../../platform/db/embedded/directory-lock.ts';
import { type Diagnosis, messageOf, skipped, wrong } from '../diagnosis.ts';

/**
 * Opens the configured database, through the service that has it where one has, or says why it cannot be
 * examined. Never creates one.
 */
export async function openExisting(
  databaseUrl: string | null,
  dataDir: string,
  serviceRuns: boolean,
): Promise<Database | Diagnosis> {
  const check = 'Database';
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres')))
    return skipped(check, `There is none in ${dataDir} yet; the first start makes it.`);
  try {
    return await openForCommand({ url: databaseUrl, dataDir: databaseUrl === null ? dataDir : null });
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse))
      return wrong(check, messageOf(error), 'Check that DATA_DIR is complete, readable and writable.');
    const detail =
      'The embedded database is in use by a process that cannot be asked: it has no control socket.';
    return serviceRuns
      ? skipped(check, detail)
      : wrong(
          check,
          detail,
          'Its service does not answer on this machine: check HOST and PORT, and its log.',
        );
  }
}
