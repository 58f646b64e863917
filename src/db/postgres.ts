import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import type { Database, Orm, Parameter } from './database.ts';
import { classify } from './sqlstate.ts';
import { Unavailable } from './unavailable.ts';

/** The server gives up before we do, so that a slow statement costs one error and not the connection. */
const STATEMENT_TIMEOUT_MS = 6_000;
/** A frozen backend answers nothing for ever; HTTP must have answered within 8 s. */
const DEADLINE_MS = 7_000;
const ENGINE_CONNECTIONS = 6;
const ORM_CONNECTIONS = 4;

/**
 * The engine's statements join a small JSON list to a table by primary key. A generic plan made while the table
 * was empty would scan it for ever after, so only nested loops over indexes are offered.
 */
const ENGINE_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
};

function connect(url: string, max: number, settings: Record<string, string>): postgres.Sql {
  return postgres(url, {
    max,
    // hazards: the 100th pipelined query on one connection would lose a BEGIN; recovery takes 10 s by default.
    max_pipeline: 1_000_000,
    backoff: () => 0.25,
    max_lifetime: null,
    connect_timeout: 5,
    onnotice: () => {},
    connection: {
      application_name: 'posthorn',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 10_000,
      ...settings,
    },
  } as postgres.Options<Record<string, never>>);
}

/** A PostgreSQL server (15 or later), over two pools: the engine's raw statements, and Drizzle's. */
export class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly orm: Orm;
  #engine: postgres.Sql;
  #ormClient: postgres.Sql;
  #closed = false;

  constructor(private readonly url: string) {
    this.#engine = connect(url, ENGINE_CONNECTIONS, ENGINE_SETTINGS);
    this.#ormClient = connect(url, ORM_CONNECTIONS, {});
    this.orm = drizzle(this.#ormClient) as unknown as Orm;
  }

  async query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: { deadlineMs?: number } = {},
  ): Promise<Row[]> {
    const client = this.#engine;
    const running = client.unsafe(text, parameters as never[], { prepare: true });
    const rows = await this.#within(options.deadlineMs ?? DEADLINE_MS, client, running);
    return rows as unknown as Row[];
  }

  async script(text: string): Promise<void> {
    try {
      await this.#engine.unsafe(text).simple();
    } catch (error) {
      throw classify(error);
    }
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.query('select 1', [], { deadlineMs: 3_000 });
    return performance.now() - start;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#engine.end({ timeout: 5 }), this.#ormClient.end({ timeout: 5 })]);
  }

  async #within<T>(ms: number, client: postgres.Sql, running: PromiseLike<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Unavailable('The database does not answer.', 'unknown'));
        this.#abandon(client);
      }, ms);
    });
    try {
      return await Promise.race([running, late]);
    } catch (error) {
      throw classify(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A connection that missed its deadline may be frozen for ever: the whole pool is replaced by a fresh one. */
  #abandon(client: postgres.Sql): void {
    if (client !== this.#engine || this.#closed) return;
    this.#engine = connect(this.url, ENGINE_CONNECTIONS, ENGINE_SETTINGS);
    void client.end({ timeout: 0 }).catch(() => {});
  }
}
