/**
 * A mail that has begun waits no longer for a server. A session is free within it where mails take their
 * usual time.
 */
const BEGUN_MS = 1_000;

/** The waits of one mail for a server that does not take it now. */
export class Waits {
  #late: AbortSignal | null = null;

  constructor(
    /** When it came, monotonic. */
    readonly since: number,
    /** Ends the mail itself. */
    private readonly end: AbortSignal,
    /**
     * True when it may be taken back: who leaves while it waits would still get it, and a crash would leave
     * it in doubt.
     */
    private readonly mayTakeBack: boolean,
  ) {}

  /** Fires when the mail has waited for long enough, all its waits together, or is to end. */
  get signal(): AbortSignal {
    if (!this.mayTakeBack) return this.end;
    this.#late ??= AbortSignal.timeout(BEGUN_MS);
    return AbortSignal.any([this.end, this.#late]);
  }

  /** True when it has waited for long enough, and would have to wait on. */
  get isOver(): boolean {
    return !this.end.aborted && this.#late?.aborted === true;
  }
}
