import type { Statements } from '../db/database.ts';
import type { IdPrefix } from '../db/ids.ts';
import type { BodyKind } from './body-key.ts';

/** A body of a backup on its way into the rows that refer to it. */
export interface ReturnedBody {
  readonly workspaceId: string;
  readonly key: string;
  readonly octets: Uint8Array;
}

/**
 * The rows of one kind that refer to bodies: everything that the collector, the audit, the doctor, backups
 * and restores have to know of them. No member is optional, so that a further kind decides each.
 */
export interface BodyHolder {
  /** Its name for people: `emails`. */
  readonly plural: string;
  /** The column that holds the keys. A database of an earlier version may lack it. */
  readonly column: { readonly table: string; readonly name: string };
  /** The prefix of the ids in `references`. */
  readonly idPrefix: IdPrefix;
  /**
   * SQL: every reference, as `workspace_id`, `key` and the `id` of the row that has it; an index has them in
   * the order of the first two.
   */
  readonly references: string;
  /** SQL: those of the keys `$2::text[]` that rows of the workspace `$1` refer to, as `key`. */
  readonly referred: string;
  /**
   * Forgets which bodies removed rows had, of those whose keys begin with the prefix; null where a reference
   * goes with its row. @throws UnavailableError
   */
  readonly forgetRemoved:
    | ((
        database: Pick<Statements, 'query'>,
        workspaceId: string,
        prefix: string,
        stop?: AbortSignal,
      ) => Promise<void>)
    | null;
  /** Puts a body into its rows, in place of the references to it. @throws UnavailableError */
  bringInside(session: Pick<Statements, 'query'>, body: ReturnedBody): Promise<void>;
}

/** The holder of each kind. */
export type BodyHolders = Readonly<Record<BodyKind, BodyHolder>>;
