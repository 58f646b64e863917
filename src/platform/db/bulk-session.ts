import postgres from 'postgres';
import { UnavailableError } from '../errors/unavailable.ts';
import type { Database, Parameter } from './database.ts';
import { EmbeddedDatabase } from './embedded/embedded.ts';
import type { DatabaseLocation } from './open.ts';
import { primaryUrl } from './server/servers.ts';
import { classify } from './sqlstate.ts';
import { wireText } from './wire/wire-text.ts';

/**
 * One connection in one transaction, for work on the whole database: it sees one moment of it, and changes
 * all or nothing.
 */
export interface BulkSession extends Pick<Database, 'kind' | 'query' | 'script'> {
  /** Answers the rows of a query in the text form of COPY: a line for each, and every line whole. */
  copyOut(select: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Inserts such lines into `table (columns)`. */
  copyIn(into: string, rows: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Takes back what was not committed, and begins again: it sees a later moment from then on. */
  restart(): Promise<void>;
  /**
   * Ends the transaction. @throws UnavailableError when the connection was lost on the way: what was read
   * then belongs to two moments
   */
  commit(): Promise<void>;
  /** Takes back what was not committed. Closes the connection, and with it an embedded database. */
  close(): Promise<void>;
}

/** The purpose of a session: a read sees one moment and can write nothing. */
export type BulkPurpose = 'read' | 'write';

const BEGIN = {
  read: 'begin transaction isolation level repeatable read, read only',
  write: 'begin transaction read write',
} as const satisfies Record<BulkPurpose, string>;

/**
 * Opens a session of the database that `where` names. @throws UnavailableError, DataDirectoryInUse,
 * DataDirectoryUnusable
 */
export const openBulkSession = (where: DatabaseLocation, purpose: BulkPurpose): Promise<BulkSession> =>
  where.url === null ? embeddedSession(where, purpose) : ServerSession.open(where.url, purpose);

async function embeddedSession(where: DatabaseLocation, purpose: BulkPurpose): Promise<BulkSession> {
  const database = await EmbeddedDatabase.open(where.dataDir, where);
  try {
    await database.script(BEGIN[purpose]);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    kind: database.kind,
    query: (text, parameters) => database.query(text, parameters),
    script: (text) => database.script(text),
    copyOut: (select) => database.copyOut(select),
    copyIn: (into, rows) => database.copyIn(into, rows),
    restart: () => database.script(`rollback; ${BEGIN[purpose]}`),
    commit: () => database.script('commit'),
    close: () => database.close(),
  };
}

// No deadline. As a text: the driver leaves out settings that are 0 or false, and the deadline of the server
// would hold.
const NONE = '0' as unknown as number;

/** A separate connection to a server, without the deadlines of the service: a table may take minutes. */
class ServerSession implements BulkSession {
  readonly kind = 'postgres';
  #backend: number | undefined;

  private constructor(
    private readonly client: postgres.Sql,
    private readonly purpose: BulkPurpose,
  ) {}

  static async open(url: string, purpose: BulkPurpose): Promise<ServerSession> {
    const client = postgres(await primaryUrl(url), {
      max: 1,
      connect_timeout: 5,
      max_lifetime: null,
      fetch_types: false,
      onnotice: () => {},
      connection: {
        application_name: 'posthorn backup',
        // The driver may reconnect unnoticed: the new connection, which is in no transaction, cannot write
        // then.
        default_transaction_read_only: true,
        statement_timeout: NONE,
        idle_in_transaction_session_timeout: NONE,
        jit: 'off',
      },
    });
    const session = new ServerSession(client, purpose);
    try {
      await session.script(BEGIN[purpose]);
      session.#backend = await session.#pid();
      return session;
    } catch (error) {
      await client.end({ timeout: 1 });
      throw error;
    }
  }

  async query<Row extends object>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return this.#asked(
      this.client.unsafe(text, parameters.map(wireText) as never[], { prepare: false }),
    ) as unknown as Row[];
  }

  async script(text: string): Promise<void> {
    await this.#asked(this.client.unsafe(text).simple());
  }

  async copyOut(select: string): Promise<Uint8Array<ArrayBuffer>> {
    const stream = await this.#asked(this.client.unsafe(`copy (${select}) to stdout`).readable());
    const rows: Uint8Array[] = [];
    try {
      for await (const row of stream) rows.push(row);
      // postgres.js 3.4.9 pauses its socket when rows come faster than they are taken, and resumes it when
      // more are asked for: not after the last ones, and the end of the statement, which is behind them,
      // would never be read.
      stream._read(0);
    } catch (error) {
      throw classify(error);
    }
    return Buffer.concat(rows);
  }

  async copyIn(into: string, rows: Uint8Array<ArrayBuffer>): Promise<void> {
    const query = this.client.unsafe(`copy ${into} from stdin`);
    const stream = await this.#asked(query.writable());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // The query was answered with the stream, so the driver reports a failure of the rows to this function
    // alone.
    void Object.assign(query, { reject });
    stream.once('error', reject).once('finish', resolve).end(rows);
    await this.#asked(promise);
  }

  restart(): Promise<void> {
    return this.script(`rollback; ${BEGIN[this.purpose]}`);
  }

  async commit(): Promise<void> {
    if ((await this.#pid()) !== this.#backend)
      throw new UnavailableError('The database became unavailable during the transfer. Start again.');
    await this.script('commit');
  }

  async close(): Promise<void> {
    await this.client.end({ timeout: 1 });
  }

  async #pid(): Promise<number | undefined> {
    return (await this.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid;
  }

  async #asked<T>(running: PromiseLike<T>): Promise<T> {
    try {
      return await running;
    } catch (error) {
      throw classify(error);
    }
  }
}
