import type { PGlite, QueryOptions, Results } from '@electric-sql/pglite';
import { codeOf } from '../sqlstate.ts';
import type { DiskRoom } from './disk-room.ts';

/**
 * The length of the log since the last checkpoint at which another one is made: it takes a tenth of a second,
 * and a start replays that length in some seconds.
 */
const LONG_LOG = 268_435_456;
/** Written between two looks at the length of the log. */
const LOOK_AFTER = 16_777_216;
/** The octets that a statement may write beside its parameters: a page of a table. */
const STATEMENT = 8_192;
const LOG_LENGTH =
  'select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as octets from pg_control_checkpoint()';

/**
 * The part of PGlite that statements go through: PGlite itself, or what hands them to the process that has
 * it.
 */
export interface Engine extends Pick<PGlite, 'query' | 'exec' | 'close'> {
  /** Keeps the log while its files are copied, where it might be shortened. */
  holdLog?(): () => void;
}

/**
 * PostgreSQL inside this process has ended. Its code is that of a server that ended so (crash_shutdown): what
 * it was doing may be done.
 */
export class EngineEnded extends Error {
  override readonly name = 'EngineEnded';
  readonly code = '57P02';

  constructor(cause: Error) {
    super(
      `The embedded database has stopped (${cause.message}). A restart recovers everything that was accepted.`,
      { cause },
    );
  }
}

/**
 * An engine whose disk may fill up. While there is too little room it takes no writes from any caller:
 * PostgreSQL itself refuses them in read-only transactions. An engine that has ended is left alone: every
 * further call would spin for ever, and the process with it.
 */
export class GuardedEngine implements Engine {
  /** The octets written since the last look at the length of the log, by the size of statements. */
  #written = 0;
  #logHolders = 0;
  readonly #ended = Promise.withResolvers<EngineEnded>();
  #end: EngineEnded | null = null;
  #isReadOnly = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly engine: Engine,
    private readonly room: DiskRoom,
  ) {}

  /** Resolves when the engine has ended without being closed. */
  get ended(): Promise<EngineEnded> {
    return this.#ended.promise;
  }

  /** True while it takes no writes for want of room. */
  get isFull(): boolean {
    return this.#isReadOnly;
  }

  /** Keeps the whole log, for as long as its files are copied, until what it answers is called. */
  holdLog(): () => void {
    this.#logHolders++;
    return () => this.#logHolders--;
  }

  query<T>(text: string, parameters?: unknown[], options?: QueryOptions): Promise<Results<T>> {
    const octets = parameters === undefined ? 0 : lengthOf(parameters);
    return this.#guarded(octets + (options?.blob?.size ?? 0), () =>
      this.engine.query<T>(text, parameters, options),
    );
  }

  exec(text: string, options?: QueryOptions): Promise<Results[]> {
    return this.#guarded(0, () => this.engine.exec(text, options));
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#end === null) await this.engine.close();
    });
  }

  #guarded<T>(octets: number, run: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      if (this.#end) throw this.#end;
      await this.#followRoom();
      if (octets > 0 && !this.#isReadOnly && !this.room.takes(octets)) throw this.room.refusal();
      try {
        const result = await run();
        this.#written += octets + STATEMENT;
        if (this.#written >= LOOK_AFTER) {
          this.#written = 0;
          void this.#inTurn(() => this.#shortenLog());
        }
        return result;
      } catch (error) {
        this.#heed(error);
        throw this.#isReadOnly && codeOf(error) === '25006' ? this.room.refusal() : error;
      }
    });
  }

  /**
   * One after the other, in the order in which they are given. PGlite would queue them as well, and run the
   * next of its queue after it has ended.
   */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(run);
    this.#last = mine.then(
      () => {},
      () => {},
    );
    return mine;
  }

  /**
   * A transaction that is rolled back takes the setting with it: a serving database runs none of more than a
   * statement.
   */
  async #followRoom(): Promise<void> {
    const isReadOnly = this.room.isShort();
    if (isReadOnly === this.#isReadOnly) return;
    try {
      await this.engine.exec(`set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
      this.#isReadOnly = isReadOnly;
    } catch (error) {
      // The next statement tries again, unless it has ended.
      this.#heed(error);
    }
  }

  /**
   * PostgreSQL does this only with background processes. Without, the log grows until the next start, which
   * replays all of it.
   */
  async #shortenLog(): Promise<void> {
    if (this.#end) return;
    try {
      const { rows } = await this.engine.query<{ octets: number }>(LOG_LENGTH);
      // A copy that began meanwhile needs the log from then on.
      if ((rows[0]?.octets ?? 0) >= LONG_LOG && this.#logHolders === 0) await this.engine.exec('checkpoint');
    } catch (error) {
      if (isEnd(error)) this.#ends(error);
      // Else the next look tries again.
    }
  }

  /** @throws EngineEnded */
  #heed(error: unknown): void {
    if (isEnd(error)) throw this.#ends(error);
  }

  #ends(error: Error): EngineEnded {
    this.#end ??= error instanceof EngineEnded ? error : new EngineEnded(error);
    this.#ended.resolve(this.#end);
    return this.#end;
  }
}

/**
 * True for an error after which PostgreSQL does not continue: a server would stop, and recover at its next
 * start.
 */
const isEnd = (error: unknown): error is Error =>
  error instanceof EngineEnded ||
  error instanceof WebAssembly.RuntimeError ||
  (error instanceof Error && 'severity' in error && error.severity === 'PANIC');

/** The octets of all texts in the parameters: nothing else in them can be long. */
function lengthOf(parameters: readonly unknown[]): number {
  let length = 0;
  for (const parameter of parameters) {
    if (typeof parameter === 'string') length += Buffer.byteLength(parameter);
    else if (Array.isArray(parameter)) length += lengthOf(parameter);
  }
  return length;
}
