/** A place in a file, always between two rows. */
export interface FilePlace {
  /** Bytes before it. */
  readonly offset: number;
  /** The physical line that begins there, from 1. */
  readonly line: number;
}

/** The reason for which an import cannot be finished. */
export type ImportFailure =
  /** `onError=abort`, and rows are wrong: nothing was written. */
  | 'rows_refused'
  /** Its file is gone: the database was restored from a dump without it. */
  | 'file_lost';

/**
 * The context of an import. Its file, its settings and its counts lie in separate tables. Times are epoch
 * milliseconds.
 */
export interface ContactImportContext {
  /** The time of the last event, from which the lease counts. */
  readonly at: number;
  /** The time for which a turn may be silent before it counts as lost. */
  readonly leaseMs: number;
  /** True when every row is checked before the first one is written. */
  readonly checksFirst: boolean;
  /** True when nothing is ever written. */
  readonly dryRun: boolean;
  /** Number of the latest turn of work that was ordered; what it tells must carry it. */
  readonly attempt: number;
  /** The place of the first row behind the header. */
  readonly first: FilePlace;
  /** The place of the next row, in the pass under way. */
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

/**
 * Rows of the file that were processed together. Only the meaning of the effects depends on their content.
 */
export interface RowsRead {
  readonly type: 'rows.read';
  readonly at: number;
  readonly attempt: number;
  /** Their place; the import must still be there. */
  readonly from: number;
  /** The place of the row behind them. */
  readonly to: FilePlace;
  readonly isLast: boolean;
  /** The number of refused rows among them. */
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
