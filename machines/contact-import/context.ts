/** A place in a file, always between two rows. */
export interface FilePlace {
  /** Bytes before it. */
  readonly offset: number;
  /** The physical line that begins there, from 1. */
  readonly line: number;
}

/** What becomes of an import that cannot be finished. */
export type ImportFailure =
  /** `onError=abort`, and rows are wrong: nothing was written. */
  | 'rows_refused'
  /** Its file is gone: the database was restored from a dump without it. */
  | 'file_lost';

/** The context of an import. Its file, its settings and its counts lie in tables of their own. Times are epoch milliseconds. */
export interface ContactImportContext {
  /** The time of the last event, from which the lease counts. */
  readonly at: number;
  /** How long a turn may be silent before it counts as lost. */
  readonly leaseMs: number;
  /** True when every row is checked before the first one is written. */
  readonly checksFirst: boolean;
  /** True when nothing is ever written. */
  readonly dryRun: boolean;
  /** Number of the latest turn of work that was ordered; what it tells must carry it. */
  readonly attempt: number;
  /** Where the first row behind the header begins. */
  readonly first: FilePlace;
  /** Where the next row begins, in the pass under way. */
  readonly place: FilePlace;
  /** Rows that were refused so far. */
  readonly refused: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: ImportFailure | null;
}

/** The input of a new import. */
export interface ContactImportInput {
  readonly at: number;
  readonly leaseMs: number;
  readonly checksFirst: boolean;
  readonly dryRun: boolean;
  readonly first: FilePlace;
}

/** Rows of the file that were worked through together. What they hold is the business of whoever gives effects their meaning. */
export interface RowsRead {
  readonly type: 'rows.read';
  readonly at: number;
  readonly attempt: number;
  /** Where they begin; the import must still stand there. */
  readonly from: number;
  /** Where the row behind them begins. */
  readonly to: FilePlace;
  readonly isLast: boolean;
  /** How many of them are refused. */
  readonly refused: number;
  /** Opaque to the machine. */
  readonly rows: unknown;
}

export type ContactImportEvent =
  /** A turn of work begins. */
  | { readonly type: 'turn.begun'; readonly at: number; readonly attempt: number }
  /** A turn of work ends before the file does: others have theirs in between. */
  | { readonly type: 'turn.ended'; readonly at: number; readonly attempt: number }
  | RowsRead
  /** The file cannot be read any more. */
  | { readonly type: 'file.lost'; readonly at: number; readonly attempt: number }
  /** A client ends it. */
  | { readonly type: 'cancel.requested'; readonly at: number };
