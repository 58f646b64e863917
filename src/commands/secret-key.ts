import type { Config } from '../config/config.ts';
import { resolveSecretKey } from '../config/secret-key.ts';
import { createSealer } from '../crypto/sealer.ts';
import { bindAnew, isItsKey } from '../db/canary.ts';
import { migrate } from '../db/migrate.ts';
import type { Terminal } from './terminal.ts';
import { withDatabase } from './with-database.ts';

/**
 * `posthorn secret-key replace` helps an operator who has lost the key: the database goes on with SECRET_KEY, or with a new one
 * in the data directory. Nothing that the lost one sealed is removed, so that a key that is found again can be put back.
 */
export function replaceSecretKey(config: Config, terminal: Terminal): Promise<number> {
  return withDatabase(config, async (database) => {
    await migrate(database);
    const sealer = createSealer(await resolveSecretKey(config));
    if (await isItsKey(database, sealer)) {
      terminal.out('This is the key of the database already; nothing was changed.\n');
      return 0;
    }
    await bindAnew(database, sealer);
    terminal.out(
      [
        'The database goes on with this key. What was sealed with the one before cannot be opened any more:',
        '  domains: rotate the DKIM keys of each, or remove it and add it again; until then their mail is put off',
        '  webhooks: POST /v1/webhooks/{id}/rotate-secret for each; until then their deliveries fail',
        '  sessions, tracking links and unsubscribe links of earlier emails do not work any more',
        '',
      ].join('\n'),
    );
    return 0;
  });
}
