import { randomBytes } from 'node:crypto';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { parse } from 'postgres-array';
import type { Database, Orm, Parameter, QueryOptions, ReadOptions } from './database.ts';
import { HealthProbe, type ProbeResult } from './health-probe.ts';
import { isForgotten, KeptStatements } from './kept-statements.ts';
import { DEADLINE_MS, Pool } from './pool.ts';
import { RefusedWrites, type WriteRefusal } from './refused-writes.ts';
import { codeOf } from './sqlstate.ts';
import { wireText } from './wire-text.ts';

/** The server's statement timeout. It is shorter than ours, so that a slow statement costs one error and not the connection. */
const STATEMENT_TIMEOUT_MS = 6_000;
const ENGINE_CONNECTIONS = 6;
const READ_CONNECTIONS = 4;
/** The deadline of a script: a migration may rewrite a table, and lifts the server's own limit by `set local statement_timeout`. */
const SCRIPT_DEADLINE_MS = 600_000;

/**
 * The engine's statements join a small JSON list to a table by primary key. A generic plan made while the table
 * was empty would scan it for ever after, so only nested loops over indexes are offered.
 */
const ENGINE_SETTINGS = {
  // The cost that disables a plan makes the planner compile it: 90 ms a statement, for nothing.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
};

const TEXTS_OID = 1_009;
/**
 * The type of text[], the only array in use. postgres.js would ask every new connection for the array types of the server; when
 * the server goes away just then, the rejection of that query is unhandled, which ends the process.
 */
const TEXTS: postgres.PostgresType<readonly string[]> = {
  to: TEXTS_OID,
  from: [TEXTS_OID],
  serialize: wireText,
  parse: (list: string) => parse(list),
};

/** The time that a probe has for a connection and one statement. */
const LOOK_MS = 600;

interface Connecting {
  readonly url: string;
  /** The name that `pg_stat_activity` shows. */
  readonly name: string;
  readonly max: number;
  readonly settings?: Readonly<Record<string, string>>;
}

function connect({ url, name, max, settings = {} }: Connecting): postgres.Sql {
  const client = postgres(url, {
    max,
    // The 100th pipelined query on one connection would lose a BEGIN; the default backoff delays recovery by 10 s (measured).
    max_pipeline: 1_000_000,
    backoff: () => 0.25,
    max_lifetime: null,
    connect_timeout: 5,
    onnotice: () => {},
    fetch_types: false,
    types: { texts: TEXTS },
    connection: {
      application_name: name,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 10_000,
      ...settings,
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>);
  // Parameters are texts already (`wireText`), so nothing is serialized here.
  for (const type of Object.keys(client.options.serializers)) delete client.options.serializers[Number(type)];
  return client;
}

/** The place of a server as a sentence names it: without user and password. */
function nameOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `The database ${pathname.slice(1)} at ${hostname}:${port || 5432}`;
}

/** Probes the server over a new connection, and finds the connections of that name that it works for. */
async function probe(url: string, name: string): Promise<ProbeResult> {
  const client = connect({ url, name: 'posthorn probe', max: 1 });
  const { promise: late, resolve } = Promise.withResolvers<ProbeResult>();
  const timer = setTimeout(() => resolve({ seen: 'silent' }), LOOK_MS);
  const asking = client
    .unsafe<{ pid: number }[]>(
      // A backend that waits for its client does not work: the rest of a statement may never arrive.
      `select pid from pg_stat_activity
       where application_name = '${name}' and state = 'active' and wait_event_type is distinct from 'Client'`,
    )
    .simple()
    .then(
      (rows): ProbeResult => ({ seen: 'answering', atWork: rows.map(({ pid }) => pid) }),
      (error): ProbeResult => ({ seen: codeOf(error) === '53300' ? 'full' : 'refusing' }),
    );
  const sighting = await Promise.race([asking, late]);
  clearTimeout(timer);
  void client.end({ timeout: 0 }).catch(() => {});
  return sighting;
}

/**
 * Drizzle over a client that takes texts only. Drizzle has no option for a statement that a connection keeps: the ones that it
 * calls prepared are still parsed and planned at every call, with a round trip for that.
 */
const ormOver = (client: postgres.Sql, prepare: boolean): Orm =>
  drizzle(
    new Proxy(client, {
      get: (target, name) =>
        name === 'unsafe'
          ? (text: string, parameters?: readonly unknown[]) =>
              target.unsafe(text, parameters?.map(wireText), { prepare })
          : Reflect.get(target, name),
    }),
  ) as unknown as Orm;

/** A PostgreSQL server (15 or later), over two pools: the engine's raw statements, and Drizzle's. */
export class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly #engine: Pool;
  readonly #reads: Pool;
  readonly #watch: HealthProbe;
  readonly #kept = new KeptStatements();
  readonly #writes = new RefusedWrites();
  readonly #orms = new WeakMap<postgres.Sql, Record<'plain' | 'preparing', Orm>>();

  constructor(url: string) {
    // The name is unique to this process, which tells its statements from another instance's by it.
    const name = `posthorn #${randomBytes(4).toString('hex')}`;
    this.#watch = new HealthProbe({
      probe: () => probe(url, name),
      replace: () => {
        this.#engine.replace();
        this.#reads.replace();
      },
    });
    const engine = { url, name, max: ENGINE_CONNECTIONS, settings: ENGINE_SETTINGS };
    const reads = { url, name, max: READ_CONNECTIONS };
    this.#engine = new Pool(() => connect(engine), this.#watch, nameOf(url));
    this.#reads = new Pool(() => connect(reads), this.#watch, nameOf(url));
  }

  get refusedWrite(): WriteRefusal | null {
    return this.#writes.latest;
  }

  async query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: QueryOptions = {},
  ): Promise<Row[]> {
    const values = parameters.map(wireText);
    const { deadlineMs = DEADLINE_MS, isSearch = false } = options;
    const rows = await this.#writes.heed(
      text,
      this.#run(isSearch ? this.#reads : this.#engine, deadlineMs, !isSearch, (client, prepare) => {
        const running = client.unsafe(text, values, { prepare });
        // Searches may wait for a connection for seconds, as those of Drizzle do: that they have no backend yet shows nothing.
        return isSearch ? running.then((found) => found) : running;
      }),
    );
    return rows as unknown as Row[];
  }

  read<Result>(
    run: (orm: Orm) => PromiseLike<Result>,
    { prepared = false }: ReadOptions = {},
  ): Promise<Result> {
    return this.#run(this.#reads, DEADLINE_MS, prepared, (client, prepare) => {
      let orms = this.#orms.get(client);
      if (!orms) {
        orms = { plain: ormOver(client, false), preparing: ormOver(client, true) };
        this.#orms.set(client, orms);
      }
      return run(prepare ? orms.preparing : orms.plain);
    });
  }

  /** Runs a statement again that the server had lost, and so has not run, on new connections, which keep no statements. */
  async #run<T>(
    pool: Pool,
    deadlineMs: number,
    isKept: boolean,
    use: (client: postgres.Sql, prepare: boolean) => PromiseLike<T>,
  ): Promise<T> {
    const prepare = isKept && this.#kept.areOn;
    const begin = performance.now();
    try {
      return await pool.run(deadlineMs, (client) => use(client, prepare));
    } catch (error) {
      if (!prepare || !isForgotten(error)) throw error;
      if (this.#kept.forgotten()) for (const each of [this.#engine, this.#reads]) each.replace(DEADLINE_MS);
      const left = Math.max(deadlineMs - (performance.now() - begin), 1);
      return pool.run(left, (client) => use(client, false));
    }
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
    this.#watch.stop();
    await Promise.all([this.#engine.close(), this.#reads.close()]);
  }
}
