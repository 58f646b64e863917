import { readLivingInstances } from '../../../engine/roster.ts';
import type { Database } from '../../../platform/db/database.ts';
import { MOST_CONNECTIONS } from '../../../platform/db/server/postgres.ts';
import { type Diagnosis, fine, skipped, warning } from '../diagnosis.ts';

const CHECK = 'Connections';

interface Limits {
  /** Null without a limit, as for the next one. */
  readonly of_role: number | null;
  readonly of_database: number | null;
  readonly of_server: number;
}

/** `reserved_connections` is of PostgreSQL 16. */
const LIMITS = `select
  (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user) as of_role,
  (select nullif(datconnlimit, -1) from pg_database where datname = current_database()) as of_database,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true)::integer, 0) as of_server`;

/** The limits in an operator's words, with what raises each. */
const REMEDIES = {
  of_role: ['the role', 'Raise it with `alter role … connection limit`'],
  of_database: ['the database', 'Raise it with `alter database … connection limit`'],
  of_server: ['the server', 'Raise `max_connections`'],
} as const satisfies Record<keyof Limits, readonly [limited: string, remedy: string]>;

/** Compares the connections that all instances may open at once with those that PostgreSQL gives them. */
export async function diagnoseConnections(database: Database, isPooled: boolean): Promise<Diagnosis> {
  if (database.kind === 'embedded') return skipped(CHECK, 'The embedded database serves one process.');
  if (isPooled) return skipped(CHECK, 'The pooler in front of the database shares its connections.');
  const [limits] = await database.query<Limits>(LIMITS);
  // Before the first start there is no table of them.
  const living = await readLivingInstances(database).catch(() => []);
  const instances = Math.max(living.length, 1);
  const needed = instances * MOST_CONNECTIONS;
  const names = Object.keys(REMEDIES) as (keyof Limits)[];
  const short = names.find((name) => (limits?.[name] ?? Number.POSITIVE_INFINITY) < needed);
  const opened = `${instances === 1 ? 'An instance opens' : `${instances} instances open`} up to ${needed}`;
  if (!short) return fine(CHECK, `${opened}, and PostgreSQL has room for them.`);
  const [limited, remedy] = REMEDIES[short];
  return warning(
    CHECK,
    `${opened}, but ${limited} allows ${limits?.[short]}: beyond that requests are refused with 503.`,
    `${remedy}, or put a pooler in front of the database.`,
  );
}
