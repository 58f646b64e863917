import type { Database } from '../db/database.ts';
import { type Diagnosis, fine, skipped, wrong } from './diagnosis.ts';

const CHECK = 'Failover';

/** Checks whether a standby would take over, and whether it would have everything that was answered 202. */
export async function diagnoseReplication(database: Database, servers: number): Promise<Diagnosis> {
  if (servers < 2)
    return skipped(CHECK, 'DATABASE_URL names one server; where it fails over is its own matter.');
  // Whoever may not read the states of others sees their rows all the same.
  const [row] = await database.query<{ standbys: number; waits: boolean }>(
    `select (select count(*)::integer from pg_stat_replication) as standbys,
       current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') <> 'local' as waits`,
  );
  const standbys = row?.standbys ?? 0;
  const detail = `${standbys} of ${servers - 1} standbys follow the primary`;
  if (standbys === 0)
    return wrong(
      CHECK,
      `${detail}: nothing would take over.`,
      'See whether the standbys run and reach the primary.',
    );
  return row?.waits
    ? fine(CHECK, `${detail}, and a commit waits for one.`)
    : fine(
        CHECK,
        `${detail}, and no commit waits for one.`,
        'A failover may lose what was answered 202 just before it: set synchronous_standby_names, or synchronous_mode in Patroni.',
      );
}
