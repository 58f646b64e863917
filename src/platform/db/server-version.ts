import type { Statements } from './database.ts';

/** The oldest PostgreSQL that is promised: the tests have run on it, and its makers still mend it. */
export const OLDEST_POSTGRES = 15;

/** The server is older than what this service is made for. */
export class OldServer extends Error {
  override readonly name = 'OldServer';
}

/**
 * A sentence about a server that is too old, by its `server_version_num` (140023 is 14.23); null for one that
 * is not.
 */
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

/** The database cannot hold the tables of this service, or its role may not make them. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}

/** The facts on which it depends whether tables can be made. */
export interface Fitness {
  readonly encoding: string;
  /** True once a migration was applied. */
  readonly isInUse: boolean;
  readonly database: string;
  readonly role: string;
  /** The schema in which tables are made: the first of search_path that there is. */
  readonly schema: string | null;
  readonly mayCreate: boolean;
  /** The owner of the tables that the role may not even read; null where it may, or there are none. */
  readonly foreignOwner: string | null;
}

const FITNESS = `
  select current_setting('server_encoding') as encoding, to_regclass('posthorn_migrations') is not null as "isInUse",
    quote_ident(current_database()) as database, quote_ident(current_user) as role, quote_ident(current_schema()) as schema,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
    (select quote_ident(pg_get_userbyid(c.relowner)) from pg_class c
      where c.oid = to_regclass('posthorn_migrations') and not has_table_privilege(c.oid, 'select')) as "foreignOwner"`;

/** A sentence about a database in which no tables can be made, with its remedy; null for a fit one. */
export function problemOfFitness({
  encoding,
  isInUse,
  database,
  role,
  schema,
  mayCreate,
  foreignOwner,
}: Fitness): string | null {
  // SQL_ASCII stores octets as they come, and was taken before; any other encoding refuses what it has no
  // letter for.
  if (encoding !== 'UTF8' && !(encoding === 'SQL_ASCII' && isInUse))
    return `The database ${database} has the encoding ${encoding}, and Posthorn needs UTF8: create another one by create database posthorn encoding 'UTF8' template template0.`;
  if (schema === null)
    return `No schema of the search_path of ${role} exists in the database ${database}: create one, or run alter role ${role} reset search_path.`;
  // The first superuser of a cluster owns what it restores without owners, and PostgreSQL 15 refuses to
  // reassign what that role owns.
  if (foreignOwner !== null)
    return `The tables in the database ${database} belong to ${foreignOwner}, and the role ${role} may not read them: restore the dump into an empty database as ${role}, or by pg_restore --no-owner --role=${role}.`;
  return mayCreate
    ? null
    : `The role ${role} may not create tables in the schema ${schema} of the database ${database}: run, as its owner or a superuser, grant usage, create on schema ${schema} to ${role}.`;
}

/** @throws UnfitDatabase */
export async function refuseUnfit(database: Pick<Statements, 'query'>): Promise<void> {
  const [fitness] = await database.query<Fitness>(FITNESS);
  const problem = fitness === undefined ? null : problemOfFitness(fitness);
  if (problem !== null) throw new UnfitDatabase(problem);
}
