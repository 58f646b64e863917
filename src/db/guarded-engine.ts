import type { PGlite, QueryOptions, Results } from '@electric-sql/pglite';
import type { DiskRoom } from './disk-room.ts';
import { codeOf } from './sqlstate.ts';

/** The part of PGlite that statements go through: PGlite itself, or what hands them to the process that has it. */
export type Engine = Pick<PGlite, 'query' | 'exec' | 'close'>;

/** PostgreSQL inside this process has ended. Its code is that of a server that ended so (crash_shutdown): what it was doing may be done. */
export class EngineEnded extends Error {
  override readonly name = 'EngineEnded';
  readonly code = '57P02';

  constructor(cause: Error) {
    super(
      `The embedded database has ended (${cause.message}). A new start brings everything back that was accepted.`,
      { cause },
    );
  }
}

/**
 * An engine whose disk may fill up. While there is too little room it takes no writes, whoever makes them: PostgreSQL itself refuses them in
 * read-only transactions. An engine that has ended is left alone: every further call would spin for ever, and the process with it.
 */
export class GuardedEngine implements Engine {
  readonly #ended = Promise.withResolvers<EngineEnded>();
  #end: EngineEnded | null = null;
  #isReadOnly = false;

  constructor(
    private readonly engine: Engine,
    private readonly room: DiskRoom,
  ) {}

  /** Resolves when the engine has ended by itself. */
  get ended(): Promise<EngineEnded> {
    return this.#ended.promise;
  }

  /** True while it takes no writes for want of room. */
  get isFull(): boolean {
    return this.#isReadOnly;
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
    if (this.#end === null) await this.engine.close();
  }

  async #guarded<T>(octets: number, run: () => Promise<T>): Promise<T> {
    if (this.#end) throw this.#end;
    this.#turn(this.room.isShort());
    if (octets > 0 && !this.#isReadOnly && !this.room.takes(octets)) throw this.room.refusal();
    try {
      return await run();
    } catch (error) {
      this.#heed(error);
      if (this.#end) throw this.#end;
      throw this.#isReadOnly && codeOf(error) === '25006' ? this.room.refusal() : error;
    }
  }

  /** Statements run in the order in which they are given, so that the next one is the first that this is true of. */
  #turn(isReadOnly: boolean): void {
    if (isReadOnly === this.#isReadOnly) return;
    this.#isReadOnly = isReadOnly;
    this.engine.exec(`set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`).catch((error) => {
      this.#heed(error);
      // The next statement tries again.
      this.#isReadOnly = !isReadOnly;
    });
  }

  #heed(error: unknown): void {
    if (this.#end || !isEnd(error)) return;
    this.#end = new EngineEnded(error);
    this.#ended.resolve(this.#end);
  }
}

/** True of an error after which PostgreSQL does not go on: a server would stop, and recover when it is started again. */
const isEnd = (error: unknown): error is Error =>
  error instanceof WebAssembly.RuntimeError ||
  (error instanceof Error && 'severity' in error && error.severity === 'PANIC');

/** How long all texts in the parameters are: nothing else in them can be long. */
function lengthOf(parameters: readonly unknown[]): number {
  let length = 0;
  for (const parameter of parameters) {
    if (typeof parameter === 'string') length += parameter.length;
    else if (Array.isArray(parameter)) length += lengthOf(parameter);
  }
  return length;
}
