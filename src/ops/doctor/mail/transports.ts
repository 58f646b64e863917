import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import type { Database } from '../../../platform/db/database.ts';
import { missingTransports } from '../../../sending/domains/queries.ts';
import { type Diagnosis, fine, skipped, wrong } from '../diagnosis.ts';

/** Checks that every domain's mail can leave by the transport chosen for it. */
export async function diagnoseWays(database: Database, enabled: EnabledTransports): Promise<Diagnosis> {
  const check = 'Domains';
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('domain_transports') is not null as there`,
  );
  if (!schema?.there) return skipped(check, 'There are none yet.');
  const missing = await missingTransports(database, enabled);
  if (missing.length === 0) return fine(check, 'The transport of each is enabled.');
  const sentences = missing.map(
    ({ provider, domains, names }) =>
      `${names.join(', ')}${domains > names.length ? ` and ${domains - names.length} more` : ''} by ${provider}`,
  );
  return wrong(
    check,
    `The mail of some is held, since their transport is not enabled: ${sentences.join('; ')}.`,
    'Name it in TRANSPORT again, or choose another one with PATCH /v1/domains/{id}.',
  );
}
