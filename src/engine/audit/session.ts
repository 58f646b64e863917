import postgres from 'postgres';
import { openOrCopy } from '../../platform/control/client.ts';
import type { Parameter } from '../../platform/db/database.ts';
import { EmbeddedDatabase } from '../../platform/db/embedded/embedded.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import type { DatabaseLocation } from '../../platform/db/open.ts';
import { primaryUrl } from '../../platform/db/server/servers.ts';
import { classify } from '../../platform/db/sqlstate.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/** A session sees one moment of a database for as long as it takes. Nothing can be written through it. */
export interface Session {
  /** True where a copy is read of an embedded database that an instance serves. */
  readonly isCopy?: boolean;
  query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /**
   * @throws UnavailableError when the moment was lost on the way: what was read then belongs to two moments.
   */
  close(): Promise<void>;
}

const BEGIN = 'begin transaction isolation level repeatable read, read only';
/** A batch takes milliseconds; one that takes this long waits for something. */
const BATCH_TIMEOUT_MS = 60_000;

/** Opens a session of the database that `where` names. */
export const openSession = (where: DatabaseLocation): Promise<Session> =>
  where.url === null ? embeddedSession(where) : serverSession(where.url);

async function serverSession(url: string): Promise<Session> {
  const client = postgres(await primaryUrl(url), {
    max: 1,
    connect_timeout: 5,
    max_lifetime: null,
    onnotice: () => {},
    connection: {
      application_name: 'posthorn audit',
      // The driver may reconnect unnoticed; the new connection cannot write either.
      default_transaction_read_only: true,
      statement_timeout: BATCH_TIMEOUT_MS,
      // The driver leaves out settings that are false or 0. To compile took 3.9 s of a query's 4.1 on tables
      // without statistics.
      jit: 'off',
      // A plan that was made before the first ANALYZE and kept took 20 s a batch of 500 emails, a new one 0.6
      // s.
      plan_cache_mode: 'force_custom_plan',
    },
  });
  // A transaction takes no statement after one that failed (25P02), so later questions get the error of that
  // statement.
  let failure: unknown;
  const query = async <Row extends object>(text: string, parameters: readonly Parameter[] = []) => {
    try {
      return (await client.unsafe(text, parameters as never[], { prepare: true })) as unknown as Row[];
    } catch (error) {
      failure ??= classify(error);
      throw failure;
    }
  };
  try {
    await query(BEGIN);
    const backend = await pidOf(query);
    return {
      query,
      async close() {
        try {
          const now = await pidOf(query);
          if (now !== backend)
            throw new UnavailableError('The database became unavailable during the audit. Run it again.');
        } finally {
          await client.end({ timeout: 1 });
        }
      },
    };
  } catch (error) {
    await client.end({ timeout: 1 });
    throw error;
  }
}

const pidOf = async (query: Session['query']): Promise<number | undefined> =>
  (await query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid;

/** A database that a service has open is read as a copy: a transaction in it would hold up the service. */
async function embeddedSession(where: DatabaseLocation): Promise<Session> {
  const { database, isCopy, remove } = await openOrCopy(where, (place) =>
    EmbeddedDatabase.open(place.dataDir, place),
  );
  await database.script(BEGIN);
  return {
    isCopy,
    query: (text, parameters) => database.query(text, parameters),
    close: () => database.close().finally(remove),
  };
}

/**
 * The moments (epoch ms) before which retention may have removed data, by environment; 0 where it never has.
 */
export interface RetentionBounds {
  readonly test: number;
  readonly live: number;
}

const MARKS = `select livemode, (extract(epoch from removed_before) * 1000)::float8 as before from retention`;

/**
 * Reads retention's records before its removals, so that a session never sees a gap that this does not
 * explain.
 */
export async function readRemoved(session: Session): Promise<RetentionBounds> {
  const rows = await session.query<{ livemode: boolean; before: number }>(MARKS);
  const of = (livemode: boolean) => rows.find((row) => row.livemode === livemode)?.before ?? 0;
  return { test: of(false), live: of(true) };
}

/**
 * True when retention may have removed what has that id, in whichever environment, but not yet all that
 * refers to it.
 */
export const mayBeRemoved = (id: string, { test, live }: RetentionBounds): boolean =>
  timeOfId(id) < Math.max(test, live);
