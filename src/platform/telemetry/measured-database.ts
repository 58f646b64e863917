import type { Database, DatabaseSession, Orm, Parameter, QueryOptions, ReadOptions } from '../db/database.ts';
import type { WriteRefusal } from '../db/refused-writes.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import type { Metrics } from './metrics.ts';

/** A database whose statements are timed. */
export class MeasuredDatabase implements Database {
  readonly kind;

  constructor(
    private readonly inner: Database,
    private readonly metrics: Metrics,
  ) {
    this.kind = inner.kind;
  }

  query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<Row[]> {
    return this.#timed('query', this.inner.query<Row>(text, parameters, options));
  }

  read<Result>(run: (orm: Orm) => PromiseLike<Result>, options?: ReadOptions): Promise<Result> {
    return this.#timed('read', this.inner.read(run, options));
  }

  get refusedWrite(): WriteRefusal | null {
    return this.inner.refusedWrite;
  }

  get worked(): number {
    return this.inner.worked;
  }

  script(text: string): Promise<void> {
    return this.inner.script(text);
  }

  session(onNotification?: (payload: string) => void): DatabaseSession | null {
    return this.inner.session(onNotification);
  }

  ping(): Promise<number> {
    return this.#timed('ping', this.inner.ping());
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  async #timed<T>(operation: string, work: Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const result = await work;
      this.metrics.statement(operation, performance.now() - start);
      return result;
    } catch (error) {
      this.metrics.failure(operation, error instanceof UnavailableError ? 'unavailable' : 'error');
      throw error;
    }
  }
}
