import type { Orm, Parameter, QueryOptions, ReadOptions } from './database.ts';

/** Drizzle, as far as it only reads. */
export type ReadOrm = Pick<Orm, 'select' | 'selectDistinct' | 'selectDistinctOn'>;

/**
 * A database to show from: lists, searches, figures, exports. A replica may answer in place of the one that takes writes. Nothing is
 * decided by what comes from here: its results have another type than those of `Database`, so that no function which asks for a
 * `Database`, or a part of one, takes it. The other way round every `Database` can be read as this.
 */
export interface Reads {
  /** Runs one statement that writes nothing, and returns its rows. @throws Unavailable */
  query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  /** Runs a Drizzle query that writes nothing; where a replica fails, it is run once more. @throws Unavailable */
  read<Result extends object>(
    run: (orm: ReadOrm) => PromiseLike<Result>,
    options?: ReadOptions,
  ): Promise<Readonly<Result>>;
}
