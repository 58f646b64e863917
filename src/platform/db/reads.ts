import type { Orm, Parameter, QueryOptions, ReadOptions } from './database.ts';

/** Drizzle, as far as it only reads. */
export type ReadOrm = Pick<Orm, 'select' | 'selectDistinct' | 'selectDistinctOn'>;

/**
 * A database for showing: lists, searches, figures, exports. A replica may answer in place of the server that
 * takes writes. No decision uses its results: they have another type than those of `Database`, so that no
 * function which asks for a `Database`, or a part of one, takes it. The other way round every `Database` can
 * be read as this.
 */
export interface Reads {
  /** Runs one statement that writes nothing, and returns its rows. @throws UnavailableError */
  query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  /**
   * Runs a Drizzle query that writes nothing; where a replica fails, it is run once more. @throws
   * UnavailableError
   */
  read<Result extends object>(
    run: (orm: ReadOrm) => PromiseLike<Result>,
    options?: ReadOptions,
  ): Promise<Readonly<Result>>;
}
