import type { Statements } from './database.ts';
import { DISTRIBUTED } from './distribution/catalogue.ts';
import { undistributed } from './distribution/present.ts';
import { type Migration, migrations as released } from './migrations.ts';
import { refuseOldServer, refuseUnfit } from './server-version.ts';

/** The database was made by migrations that this executable does not carry; starting would harm it. */
export class MigrationMismatch extends Error {
  override readonly name = 'MigrationMismatch';
}

const LEDGER = `
  create table if not exists posthorn_migrations (
    name text primary key, hash text not null, applied_at timestamptz not null default now()
  )`;

/**
 * The advisory lock that serialises instances which start together. The number is arbitrary, and the same in
 * every instance.
 */
export const SCHEMA_LOCK = 7_265_511;

/** The hash that distinguishes two versions of a migration. */
export const hashOf = (sql: string): string => new Bun.CryptoHasher('sha256').update(sql).digest('hex');

/**
 * Brings the schema up to date, each migration in a separate transaction with its entry in the ledger.
 * Drizzle's own migrator reads files from disk, takes no lock and skips silently, hence this one.
 * @param onApplied receives each migration that was applied, with the milliseconds that it took
 * @throws OldServer for one that is too old
 * @throws UnfitDatabase where no tables can be made
 * @throws MigrationMismatch when an applied migration is unknown here or differs from the one carried.
 * @returns the names of the migrations applied now.
 */
export async function migrate(
  database: Statements,
  migrations: readonly Migration[] = released,
  onApplied: (name: string, ms: number) => void = () => {},
): Promise<readonly string[]> {
  await refuseOldServer(database);
  await refuseUnfit(database);
  // Several statements in one message are one implicit transaction: rolled back whole, on whichever
  // connection.
  await database.script(`select pg_advisory_xact_lock(${SCHEMA_LOCK}); ${LEDGER}`);
  const rows = await database.query<{ name: string; hash: string }>(
    'select name, hash from posthorn_migrations order by name',
  );
  const applied = new Map(rows.map((row) => [row.name, row.hash]));
  const unknown = rows.find((row) => !migrations.some(({ name }) => name === row.name));
  if (unknown)
    throw new MigrationMismatch(
      `The database has migration ${unknown.name}, which this version does not know. Run the newer version that made it.`,
    );
  const done: string[] = [];
  const isSpread = (await undistributed(database)).length < DISTRIBUTED.length;
  for (const { name, sql } of migrations) {
    const hash = hashOf(sql);
    const before = applied.get(name);
    if (before === hash) continue;
    if (before !== undefined)
      throw new MigrationMismatch(
        `Migration ${name} was applied with other content. Restore the database, or run the version that applied it.`,
      );
    const begin = performance.now();
    try {
      const body = `insert into posthorn_migrations (name, hash) values ('${name}', '${hash}');
         ${sql}`;
      await database.script(
        isSpread ? asOneCommand(body) : `select pg_advisory_xact_lock(${SCHEMA_LOCK}); ${body}`,
      );
    } catch (error) {
      // An instance that waited for the lock finds the entry made, and its own try was rolled back whole.
      const [row] = await database.query<{ hash: string }>(
        'select hash from posthorn_migrations where name = $1',
        [name],
      );
      if (row?.hash !== hash) throw error;
      continue;
    }
    onApplied(name, Math.round(performance.now() - begin));
    done.push(name);
  }
  return done;
}

/**
 * Citus leaves the storage of columns as it was when the table was distributed, which is a matter of space
 * alone.
 */
const STORAGE = /alter table \w+ alter column \w+ set storage \w+;/g;

/** Citus takes no command about its tables in a message with others; within one command it takes them all. */
const asOneCommand = (sql: string): string => `do $migration$ begin
  perform pg_advisory_xact_lock(${SCHEMA_LOCK});
  ${sql.replaceAll(STORAGE, '').trimEnd().replace(/;$/, '')};
end $migration$`;
