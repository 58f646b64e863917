/** The certainty about failed work: it did not happen, it happened, or its outcome is unknown. */
export type EffectCertainty = 'no' | 'unknown';

/**
 * A dependency (the database, a full mailbox) did not do its part in time. Clients see 503 with Retry-After.
 * `applied` is 'unknown' when the reply was lost: the engine then reads the truth back instead of guessing.
 */
export class UnavailableError extends Error {
  override readonly name = 'Unavailable';

  constructor(
    message: string,
    readonly applied: EffectCertainty = 'no',
    readonly retryAfterSeconds = 1,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
