import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import type { WriteRefusal } from './refused-writes.ts';

/** Drizzle, the same type over an embedded database and over a server. */
export type Orm = PgDatabase<PgQueryResultHKT>;

/** What a statement takes: JSON goes in as text and is cast in SQL (`$1::text::json`). */
export type Parameter = string | number | boolean | null | readonly string[];

/** How one statement is run. */
export interface QueryOptions {
  /** A statement that takes longer is given up. */
  readonly deadlineMs?: number;
  /** The statement's name, for whoever wraps the database: faults are injected by name and not by the text of the SQL. */
  readonly name?: string;
}

/** How a read is made. */
export interface ReadOptions {
  /**
   * Every connection keeps the statement by its text: a round trip and a parse less, for memory on both sides. For what is
   * asked often and in few forms; whoever sends a request must not be able to make up texts.
   */
  readonly prepared?: boolean;
}

/** For a read of few forms. */
export const PREPARED: ReadOptions = { prepared: true };

/** The one way to the database, the same for the embedded one and for a PostgreSQL server. */
export interface Database {
  readonly kind: 'embedded' | 'postgres';
  /** Why it refused the last write (a full disk, a standby), within ten seconds; null where it did not. */
  readonly refusedWrite: WriteRefusal | null;
  /**
   * Runs one statement, which is its own transaction, and answers its rows. Prepared by its text.
   * @throws Unavailable when the database is away, refuses for want of resources, or misses the deadline.
   */
  query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<Row[]>;
  /** Several statements at once, without parameters: migrations only. */
  script(text: string): Promise<void>;
  /**
   * Drizzle, for reads and small writes; over connections of its own, since Drizzle changes its client's parsers.
   * The one place that runs a Drizzle query, so that none is left un-awaited. @throws Unavailable as `query` does.
   */
  read<Result>(run: (orm: Orm) => PromiseLike<Result>, options?: ReadOptions): Promise<Result>;
  /** Round-trip time in milliseconds. */
  ping(): Promise<number>;
  close(): Promise<void>;
}
