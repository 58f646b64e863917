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
const READ_CONNECTIONS = 4;
/** A migration may rewrite a table; it lifts the server's own limit itself (`set local statement_timeout`). */
const SCRIPT_DEADLINE_MS = 600_000;

/**
 * The engine's statements join a small JSON list to a table by primary key. A generic plan made while the table
 * was empty would scan it for ever after, so only nested loops over indexes are offered.
 */
const ENGINE_SETTINGS = {
  // The penalty that stands for "not offered" makes the planner think of compiling: 90 ms a statement, for nothing.
  jit: 'off',
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

/**
 * When an error ends a result half-way, postgres.js 3.4.9 goes on counting rows from there: the next result of that
 * connection begins with as many holes (tests/unit/hazards.test.ts). They are closed here.
 */
function whole<T>(result: T): T {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return result;
  return result.filter(() => true) as T;
}

/** One pool, replaced as a whole when one of its connections was lost or a query missed its deadline. */
class Pool {
  #client: postgres.Sql;
  #closed = false;

  constructor(private readonly open: () => postgres.Sql) {
    this.#client = open();
  }

  /** Runs on the present client. @throws Unavailable after `deadlineMs`; the statement may be applied then. */
  async run<T>(deadlineMs: number, use: (client: postgres.Sql) => PromiseLike<T>): Promise<T> {
    const client = this.#client;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Unavailable('The database does not answer.', 'unknown'));
        // A shorter wait than the usual one shows a slow database; others' statements may still be answered.
        if (deadlineMs >= DEADLINE_MS) this.#replace(client, 0);
      }, deadlineMs);
    });
    try {
      return whole(await Promise.race([use(client), late]));
    } catch (error) {
      const known = classify(error);
      if (known !== error && known instanceof Unavailable && known.applied === 'unknown')
        this.#replace(client, DEADLINE_MS);
      throw known;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Whoever closes has finished; but postgres.js waits in vain for a connection that was lost in mid-query.
    await this.#client.end({ timeout: 1 });
  }

  /**
   * Goes on with new connections; what runs on the old ones may go on so long. A connection that was lost is never used
   * again: postgres.js 3.4.9 carries over what it had half read, half written or half failed when it reconnects
   * (tests/unit/hazards.test.ts), and then answers with holes, fails a statement it never sent, or hangs for 5 s.
   */
  #replace(client: postgres.Sql, graceMs: number): void {
    if (client !== this.#client || this.#closed) return;
    this.#client = this.open();
    void client.end({ timeout: graceMs / 1_000 }).catch(() => {});
  }
}

/** A PostgreSQL server (15 or later), over two pools: the engine's raw statements, and Drizzle's. */
export class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly #engine: Pool;
  readonly #reads: Pool;
  readonly #orms = new WeakMap<postgres.Sql, Orm>();

  constructor(url: string) {
    this.#engine = new Pool(() => connect(url, ENGINE_CONNECTIONS, ENGINE_SETTINGS));
    this.#reads = new Pool(() => connect(url, READ_CONNECTIONS, {}));
  }

  async query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: { deadlineMs?: number } = {},
  ): Promise<Row[]> {
    const rows = await this.#engine.run(options.deadlineMs ?? DEADLINE_MS, (client) =>
      client.unsafe(text, parameters as never[], { prepare: true }),
    );
    return rows as unknown as Row[];
  }

  read<Result>(run: (orm: Orm) => PromiseLike<Result>): Promise<Result> {
    return this.#reads.run(DEADLINE_MS, (client) => {
      let orm = this.#orms.get(client);
      if (!orm) {
        orm = drizzle(client) as unknown as Orm;
        this.#orms.set(client, orm);
      }
      return run(orm);
    });
  }

  async script(text: string): Promise<void> {
    await this.#engine.run(SCRIPT_DEADLINE_MS, (client) => client.unsafe(text).simple());
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.query('select 1', [], { deadlineMs: 3_000 });
    return performance.now() - start;
  }

  async close(): Promise<void> {
    await Promise.all([this.#engine.close(), this.#reads.close()]);
  }
}
