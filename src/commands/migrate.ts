import type { Config } from '../config/config.ts';
import { migrate } from '../db/migrate.ts';
import { migrations } from '../db/migrations.ts';
import type { Terminal } from './terminal.ts';
import { withDatabase } from './with-database.ts';

/** `posthorn migrate` brings the schema up to date without serving, for deployments that do the two separately. */
export function runMigrations(config: Config, terminal: Terminal): Promise<number> {
  return withDatabase(config, async (database) => {
    const applied = await migrate(database, migrations, (name, ms) =>
      terminal.out(`Applied ${name} in ${ms} ms.\n`),
    );
    if (applied.length === 0) terminal.out('The schema is up to date.\n');
    return 0;
  });
}
