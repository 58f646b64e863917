/** The result for one record. */
export interface CheckedRecord {
  /**
   * `pending`: not set yet. `failed`: set, and wrong. `unknown`: DNS gave no answer, so the earlier result still holds.
   */
  readonly status: 'verified' | 'pending' | 'failed' | 'unknown';
  /** The records that were found. */
  readonly found: readonly string[];
  /** A sentence for the owner of the domain; null when the record is verified. */
  readonly error: string | null;
}
