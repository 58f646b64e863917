import { readLiving } from '../../engine/roster.ts';
import { ROLES, UNDONE_WITHOUT } from '../../platform/config/roles.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Diagnosis, fine, skipped, warning } from './diagnosis.ts';

const CHECK = 'Roles';

/**
 * Checks that some living instance has each role. Without any living instance, the service is simply not
 * running.
 */
export async function diagnoseRoles(database: Database): Promise<Diagnosis> {
  if (database.kind === 'embedded')
    return skipped(CHECK, 'The embedded database has one process, which does everything.');
  const living = await readLiving(database);
  const counts = ROLES.map((role) => `${role} ${living[role]}`).join(', ');
  if (ROLES.every((role) => living[role] === 0))
    return skipped(CHECK, 'No instance has written a heartbeat within 35 seconds.');
  const missing = ROLES.filter((role) => living[role] === 0);
  if (missing.length === 0) return fine(CHECK, `Living instances: ${counts}.`);
  return warning(
    CHECK,
    `Living instances: ${counts}. So ${missing.map((role) => UNDONE_WITHOUT[role]).join(', and ')}.`,
    `Start one with \`posthorn serve --only ${missing.join(',')}\`. Accepted mail waits for it.`,
  );
}
