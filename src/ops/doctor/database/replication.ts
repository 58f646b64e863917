import type { Database } from '../../../platform/db/database.ts';
import { type Diagnosis, fine, skipped, wrong } from '../diagnosis.ts';

const CHECK = 'Failover';

/**
 * Settings that no database shows, and that Patroni's defaults leave out; docs/scale.md describes the
 * measurement.
 */
const ALSO =
  'With Patroni also set synchronous_mode_strict, or commits wait for no standby while none is connected, and watchdog.mode: required, or a leader that was suspended may come back and undo the commits of its successor: with etcd3, Patroni before 3.0.3 does.';

/** Checks whether a standby would take over, and whether it would have everything that was answered 202. */
export async function diagnoseReplication(database: Database, servers: number): Promise<Diagnosis> {
  // A role that may not read the states of others sees their rows all the same.
  const [row] = await database.query<{ standbys: number; named: boolean; commit: string }>(
    `select (select count(*)::integer from pg_stat_replication) as standbys,
       current_setting('synchronous_standby_names') <> '' as named, current_setting('synchronous_commit') as commit`,
  );
  const { standbys = 0, named = false, commit = 'on' } = row ?? {};
  if (commit === 'off')
    return wrong(
      CHECK,
      'synchronous_commit is off: a crash may lose mail that was answered 202.',
      'Find who has set it with `select * from pg_db_role_setting`, and in postgresql.conf, and set it to on.',
    );
  if (servers < 2)
    return skipped(CHECK, 'DATABASE_URL names one server; its failover cannot be checked from here.');
  const detail = `${standbys} of ${servers - 1} standbys follow the primary`;
  if (standbys === 0)
    return wrong(
      CHECK,
      `${detail}: no server would take over.`,
      'Check that the standbys run and reach the primary.',
    );
  if (named && commit !== 'local') return fine(CHECK, `${detail}, and a commit waits for one.`, ALSO);
  return fine(
    CHECK,
    `${detail}, and no commit waits for one${named ? ': synchronous_commit is local' : ''}.`,
    'A failover may lose mail that was answered 202 just before it: set synchronous_standby_names, or synchronous_mode in Patroni, with synchronous_commit on.',
  );
}
