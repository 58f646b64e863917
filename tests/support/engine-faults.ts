import type { Database, Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import type { WriteRefusal } from '../../src/platform/db/refused-writes.ts';

/** A database that something can be done to between the engine and its statements. */
export class HookedDatabase implements Database {
  /**
   * Runs before each statement; what it throws, the statement throws; while it waits, the statement waits.
   */
  before: (text: string, parameters: readonly Parameter[]) => Promise<void> | void = () => {};
  readonly kind;
  readonly read: Database['read'];
  statements = 0;

  constructor(private readonly inner: Database) {
    this.kind = inner.kind;
    this.read = inner.read.bind(inner);
  }

  get refusedWrite(): WriteRefusal | null {
    return this.inner.refusedWrite;
  }

  get worked(): number {
    return this.inner.worked;
  }

  async query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<Row[]> {
    this.statements++;
    await this.before(text, parameters ?? []);
    return this.inner.query<Row>(text, parameters, options);
  }

  /**
   * Holds every statement back until the returned function is called; `isAsked` resolves with the first of
   * them.
   */
  hold(): (() => void) & { readonly isAsked: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    this.before = () => {
      asked.resolve();
      return promise;
    };
    const release = () => {
      this.before = () => {};
      resolve();
    };
    return Object.assign(release, { isAsked: asked.promise });
  }

  /** The next statements fail with that error, one each. */
  failNext(...errors: readonly Error[]): void {
    const left = [...errors];
    this.before = () => {
      const error = left.shift();
      if (error) throw error;
    };
  }

  script = (text: string): Promise<void> => this.inner.script(text);
  session = (): ReturnType<Database['session']> => this.inner.session();
  ping = (): Promise<number> => this.inner.ping();
  close = (): Promise<void> => this.inner.close();
}
