import type { Database } from '../../../platform/db/database.ts';
import { isDistributedDatabase } from '../../../platform/db/distribution/present.ts';
import { hashOf } from '../../../platform/db/migrate.ts';
import { type Migration, migrations } from '../../../platform/db/migrations.ts';
import { PARTITIONED, partitionName } from '../../../platform/db/partitions.ts';
import { problemOfVersion, UPGRADE_SERVER, versionOf } from '../../../platform/db/server-version.ts';
import { isOutOfLine, readLogState } from '../../../sending/events/positions.ts';
import { readLogLag } from '../../../sending/events/queries.ts';
import { type Diagnosis, fine, messageOf, skipped, wrong } from '../diagnosis.ts';

/** Above this round trip each email takes noticeably longer. */
const SLOW_MS = 50;
/** Posthorn goes by the database's clock; logs and certificates by the machine's. */
const SKEW_MS = 2_000;

const BRING_CLOSER =
  'That is slow: every email takes several round trips. Bring database and service closer together.';

/** Checks that the database answers, and how fast. */
export async function diagnoseConnection(database: Database): Promise<Diagnosis> {
  const check = 'Database';
  try {
    // The first round trip also connects.
    await database.ping();
    const ms = Math.min(await database.ping(), await database.ping());
    const version = await versionOf(database);
    const old = problemOfVersion(version);
    if (old !== null) return wrong(check, old, UPGRADE_SERVER);
    const name = database.kind === 'embedded' ? 'Embedded' : `PostgreSQL ${Math.floor(version / 10_000)}`;
    const detail = `${name}, ${ms.toFixed(1)} ms a round trip.`;
    return fine(check, detail, ms > SLOW_MS ? BRING_CLOSER : null);
  } catch (error) {
    return wrong(
      check,
      messageOf(error),
      database.kind === 'postgres'
        ? 'Check host, port, user and password in DATABASE_URL, and that the server takes connections from here.'
        : 'Check that DATA_DIR is complete and belongs to the user that runs this command.',
    );
  }
}

/**
 * Checks that the database takes writes: a standby, or one that was set read-only, answers as if nothing were
 * wrong.
 */
export async function diagnoseWrites(database: Database): Promise<Diagnosis> {
  const check = 'Writes';
  const [row] = await database.query<{ standby: boolean; refused: boolean }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as refused`,
  );
  if (row?.standby)
    return wrong(
      check,
      'This is a standby: it can be read, but no mail can be accepted or sent.',
      'Name the primary in DATABASE_URL, or promote this server.',
    );
  return row?.refused
    ? wrong(
        check,
        'The database is read-only: no mail can be accepted or sent.',
        'Find who has set default_transaction_read_only with `select * from pg_db_role_setting`, and in postgresql.conf.',
      )
    : fine(check, 'The database accepts writes.');
}

/** Checks that the schema is the one that this version works with. */
export async function diagnoseSchema(
  database: Database,
  carried: readonly Migration[] = migrations,
): Promise<Diagnosis> {
  const check = 'Schema';
  const [ledger] = await database.query<{ there: boolean }>(
    `select to_regclass('posthorn_migrations') is not null as there`,
  );
  if (!ledger?.there) return skipped(check, 'There is none yet; the first start makes it.');
  const rows = await database.query<{ name: string; hash: string }>(
    'select name, hash from posthorn_migrations',
  );
  const applied = new Map(rows.map(({ name, hash }) => [name, hash]));
  const unknown = rows.filter(({ name }) => !carried.some((known) => known.name === name));
  if (unknown.length > 0)
    return wrong(
      check,
      `It has ${listed(unknown)}, which this version does not know.`,
      'A newer version made it: run that version, or restore the database of this one.',
    );
  const changed = carried.filter(({ name, sql }) => applied.has(name) && applied.get(name) !== hashOf(sql));
  if (changed.length > 0)
    return wrong(
      check,
      `${listed(changed)} was applied with other content.`,
      'Run the version that made this database, or restore the database of this one.',
    );
  const missing = carried.filter(({ name }) => !applied.has(name));
  if (missing.length > 0)
    return wrong(
      check,
      `${listed(missing)} is not applied yet.`,
      'Run `posthorn migrate`, or start the service.',
    );
  return fine(check, `Up to date: ${listed(carried)} applied.`);
}

const listed = (migrations: readonly { readonly name: string }[]): string =>
  migrations.map(({ name }) => name).join(', ');

/** Checks that the partitions of today exist. */
export async function diagnosePartitions(database: Database, now: number): Promise<Diagnosis> {
  const check = 'Partitions';
  const rows = await database.query<{ name: string }>(
    'select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid',
  );
  if (rows.length === 0) return skipped(check, 'There are none yet; the first start makes them.');
  const present = new Set(rows.map(({ name }) => name));
  const missing = PARTITIONED.map(({ table }) => partitionName(table, now)).filter(
    (name) => !present.has(name),
  );
  return missing.length === 0
    ? fine(check, 'There is one for today.')
    : wrong(
        check,
        `${missing.join(', ')} is missing; rows of today are kept, but not dropped by the day.`,
        'The service makes them each hour: check that it runs, and read its log lines of partitionMaker.',
      );
}

/** Above this delay, followers of the event log notice. */
const LATE_LOG_SECONDS = 60;

/** Checks that the event log is in one order and shows what was written. */
export async function diagnoseLog(database: Database, lateSeconds = LATE_LOG_SECONDS): Promise<Diagnosis> {
  const check = 'Event log';
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('event_log') is not null as there`,
  );
  if (!table?.there) return skipped(check, 'There is none yet; the first start makes it.');
  const state = await readLogState(database, await isDistributedDatabase(database));
  if (state.last >= state.next)
    return wrong(
      check,
      `It ends at ${state.last}, and the next event gets ${state.next}: readers would miss it.`,
      'The data come from another database. Restart the service, which advances the log.',
    );
  if (isOutOfLine(state))
    return wrong(
      check,
      'The database was restored or failed over since the service last started.',
      'Restart the service, which advances the log: readers with older cursors could miss events.',
    );
  const seconds = await readLogLag(database);
  return seconds > lateSeconds
    ? wrong(
        check,
        `A transaction has been open for ${Math.round(seconds)} s, in some database of the server: the log shows nothing after it.`,
        'Find it with `select pid, datname, usename, query from pg_stat_activity where backend_xid is not null order by xact_start`, or in pg_prepared_xacts, and end it.',
      )
    : fine(check, 'It is in order, and shows all commits.');
}

/** Checks that this machine's clock and the database's agree. */
export async function diagnoseClock(database: Database, now: () => number): Promise<Diagnosis> {
  const check = 'Clock';
  if (database.kind === 'embedded')
    return skipped(check, 'The embedded database goes by the clock of this machine.');
  const before = now();
  const [row] = await database.query<{ at: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at',
  );
  const skew = (row?.at ?? 0) - (before + now()) / 2;
  const detail = `${(Math.abs(skew) / 1_000).toFixed(2)} s ${skew < 0 ? 'ahead of' : 'behind'} the database.`;
  return Math.abs(skew) > SKEW_MS
    ? wrong(
        check,
        detail,
        'Emails go by the clock of the database, logs and certificates by that of this machine. Synchronise both with NTP.',
      )
    : fine(check, detail);
}
