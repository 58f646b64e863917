import type { Config } from '../../../platform/config/config.ts';
import {
  distribute,
  embeddedIsOne,
  NotDistributable,
  refuseUndistributable,
} from '../../../platform/db/distribution/distribute.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { migrations } from '../../../platform/db/migrations.ts';
import type { Terminal } from '../terminal.ts';
import { withDatabase } from './with-database.ts';

export interface MigrateOptions {
  readonly distributed?: boolean;
}

/**
 * `posthorn migrate` brings the schema up to date without serving, for deployments that do the two
 * separately. With `--distributed` it also spreads the tables over the nodes of a Citus cluster.
 */
export async function runMigrations(
  config: Config,
  terminal: Terminal,
  { distributed = false }: MigrateOptions = {},
): Promise<number> {
  try {
    // Opening it would make it.
    if (distributed && config.databaseUrl === null) throw embeddedIsOne();
    return await withDatabase(config, async (database) => {
      if (distributed) await refuseUndistributable(database);
      const applied = await migrate(database, migrations, (name, ms) =>
        terminal.out(`Applied ${name} in ${ms} ms.\n`),
      );
      if (applied.length === 0) terminal.out('The schema is up to date.\n');
      if (distributed) {
        const placed = await distribute(database, (says) => terminal.out(`${says}\n`));
        if (placed.length === 0) terminal.out('The tables are distributed.\n');
      }
      return 0;
    });
  } catch (error) {
    if (!(error instanceof NotDistributable)) throw error;
    terminal.error(`${error.message}\n`);
    return 1;
  }
}
