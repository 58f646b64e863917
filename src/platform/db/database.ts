import type { SQL } from 'drizzle-orm';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import type { WriteRefusal } from './refused-writes.ts';

/** Drizzle, the same type over an embedded database and over a server. */
export type Orm = PgDatabase<PgQueryResultHKT>;

/** A parameter of a statement. JSON is passed as text and cast in SQL (`$1::text::json`). */
export type Parameter = string | number | boolean | null | readonly string[];

/** The options of one statement. */
export interface QueryOptions {
  /** The time after which the statement is given up. */
  readonly deadlineMs?: number;
  /**
   * The statement's name, for wrappers of the database: faults are injected by name and not by the text of
   * the SQL.
   */
  readonly name?: string;
  /**
   * True for a read that may take long, or whose text clients have a part in: it runs on the connections of
   * `read`, where no write waits behind it, is planned for its values, and is kept nowhere.
   */
  readonly isSearch?: boolean;
  /**
   * True for a read that runs on the connections of `read` as well, and that these keep: one that is frequent
   * and has few forms.
   */
  readonly isPage?: boolean;
  /** True for a look that an idle service repeats: it is no sign of work (`Database.worked`). */
  readonly isRoutine?: boolean;
}

export interface ReadOptions {
  /**
   * True when every connection keeps the statement by its text. That saves a round trip and a parse, and
   * costs memory on both sides, so it is for reads that are frequent and have few forms; a client must not be
   * able to invent texts.
   */
  readonly prepared?: boolean;
  /**
   * True for a read that a client has put together and that many wait behind: a server ends it after a
   * second, and it has separate connections. An embedded database cannot end a statement.
   */
  readonly isBrief?: boolean;
}

/** The options of a frequent read with few forms. */
export const PREPARED: ReadOptions = { prepared: true };

/**
 * One connection to a server, with what the server keeps for it as long as it lives, such as advisory locks.
 * It is never opened again once it has ended: its owner asks for another one.
 */
export interface DatabaseSession {
  /**
   * Runs one statement without parameters, or a block. @throws UnavailableError also once the connection has
   * ended.
   */
  query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]>;
  /** Resolves once the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The database, embedded or a PostgreSQL server. Nothing else in the service talks to it. */
export interface Database {
  readonly kind: 'embedded' | 'postgres';
  /**
   * The reason why the last write was refused within ten seconds (a full disk, a standby); null when it was
   * not.
   */
  readonly refusedWrite: WriteRefusal | null;
  /**
   * Changes with the begin and the end of each statement that is no routine (`QueryOptions.isRoutine`). Where
   * it has not changed, this process has changed nothing.
   */
  readonly worked: number;
  /**
   * Runs one statement, which is prepared by its text and is its own transaction, and returns its rows.
   * @throws UnavailableError when the database is away, refuses for want of resources, or misses the
   * deadline.
   */
  query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<Row[]>;
  /** Runs several statements at once, without parameters, as one transaction. */
  script(text: string): Promise<void>;
  /**
   * Runs a Drizzle query: reads and small writes. It has separate connections, since Drizzle changes the
   * parsers of its client. No other place runs one, so that none is left un-awaited. @throws UnavailableError
   * as `query` does.
   */
  read<Result>(run: (orm: Orm) => PromiseLike<Result>, options?: ReadOptions): Promise<Result>;
  /**
   * A session of the server, opened with its first statement; null where there are none: the embedded
   * database has no second process, and a pooler gives each transaction another backend.
   * @param onNotification called with the text of each notification, once the session listens
   */
  session(onNotification?: (payload: string) => void): DatabaseSession | null;
  /** Measures a round trip, in milliseconds. */
  ping(): Promise<number>;
  close(): Promise<void>;
}

/** The part of a database that the schema is made and looked after with. */
export type Statements = Pick<Database, 'query' | 'script'>;

/**
 * Runs a statement that was put together with Drizzle's `sql`, and answers its rows: one of the two drivers
 * wraps them. @throws UnavailableError
 */
export async function execute<Row>(
  database: Database,
  statement: SQL,
  options?: ReadOptions,
): Promise<readonly Row[]> {
  const result: unknown = await database.read((orm) => orm.execute(statement), options);
  return (Array.isArray(result) ? result : (result as { readonly rows: unknown }).rows) as readonly Row[];
}
