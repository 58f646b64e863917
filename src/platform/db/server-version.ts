import type { Statements } from './database.ts';

/** The oldest PostgreSQL that is promised: the tests have run on it, and its makers still mend it. */
export const OLDEST_POSTGRES = 15;

/** The server is older than what this service is made for. */
export class OldServer extends Error {
  override readonly name = 'OldServer';
}

/** A sentence about a server that is too old, by its `server_version_num` (140023 is 14.23); null for one that is not. */
export function problemOfVersion(number: number): string | null {
  const major = Math.floor(number / 10_000);
  if (major >= OLDEST_POSTGRES) return null;
  // Before 10 a major version had two numbers (90624 is 9.6.24).
  const minor = major >= 10 ? number % 10_000 : `${Math.floor(number / 100) % 100}.${number % 100}`;
  return `The server runs PostgreSQL ${major}.${minor}. Posthorn needs PostgreSQL ${OLDEST_POSTGRES} or later.`;
}

/** The remedy for an old server. */
export const UPGRADE_SERVER =
  'Upgrade the server (pg_upgrade), set DATABASE_URL to a newer one, or unset it to use the embedded database.';

/** The version of the server, as `server_version_num` has it. */
export async function versionOf(database: Pick<Statements, 'query'>): Promise<number> {
  const [row] = await database.query<{ version: number }>(
    `select current_setting('server_version_num')::integer as version`,
  );
  return row?.version ?? 0;
}

/** @throws OldServer */
export async function refuseOldServer(database: Pick<Statements, 'query'>): Promise<void> {
  const problem = problemOfVersion(await versionOf(database));
  if (problem !== null) throw new OldServer(`${problem} ${UPGRADE_SERVER}`);
}
