import type { Migration } from '../../platform/db/migrations.ts';

/** The first part of a backup. */
export interface Header {
  /** The version of Posthorn that made it. */
  readonly posthorn: string;
  /** The migrations that its schema was made by, in their order. */
  readonly migrations: readonly (Pick<Migration, 'name'> & { readonly hash: string })[];
  readonly source: 'embedded' | 'postgres';
  /** The moment that it holds, by the clock of its database, in ISO 8601. */
  readonly takenAt: string;
  /** The key that its secrets are sealed with; null when the database was never used with one. */
  readonly secretKey: string | null;
  /** The days with partitions, as their first milliseconds. */
  readonly days: readonly number[];
  readonly tables: number;
  /** As many rows as PostgreSQL believes there are, for the progress. */
  readonly estimatedRows: number;
}

/** The table that the rows after it belong to, with its columns, quoted as SQL writes them. */
export interface Table {
  readonly name: string;
  readonly columns: string;
}

/** The last part of a backup: the number of rows of each table. */
export interface Trailer {
  readonly rows: Readonly<Record<string, number>>;
  /** The number of bodies of BODY_STORE that come along; none where it is left out. */
  readonly bodies?: number;
}

/**
 * A backup is a sequence of these: a header, then each table with its rows, the bodies that lay outside, then
 * a trailer.
 */
export type Part =
  | { readonly kind: 'header'; readonly header: Header }
  | { readonly kind: 'table'; readonly table: Table }
  /** Whole rows in the text form of COPY. */
  | { readonly kind: 'rows'; readonly rows: Uint8Array<ArrayBuffer> }
  /** The body that lay in BODY_STORE under that key. */
  | { readonly kind: 'body'; readonly key: string; readonly octets: Uint8Array }
  | { readonly kind: 'trailer'; readonly trailer: Trailer };

const LINE_END = 10;

/** The number of rows; a line break inside a value is written as `\n`, so that a real one ends a row. */
export function countRows(rows: Uint8Array): number {
  let count = 0;
  for (let at = rows.indexOf(LINE_END); at >= 0; at = rows.indexOf(LINE_END, at + 1)) count++;
  return count;
}

/** The same rows in pieces of about this many bytes, cut between two rows. */
export function* inPieces(rows: Uint8Array<ArrayBuffer>, bytes: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let from = 0; from < rows.length; ) {
    const end = rows.length - from <= bytes ? rows.length : rows.indexOf(LINE_END, from + bytes) + 1;
    yield rows.subarray(from, end);
    from = end;
  }
}
