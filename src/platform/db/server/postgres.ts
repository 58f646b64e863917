import { randomBytes } from 'node:crypto';
import type postgres from 'postgres';
import { UnavailableError } from '../../errors/unavailable.ts';
import type { Database, DatabaseSession, Orm, Parameter, QueryOptions, ReadOptions } from '../database.ts';
import { RefusedWrites, type WriteRefusal } from '../refused-writes.ts';
import { isDeadlocked } from '../sqlstate.ts';
import { ENGINE_SETTINGS, ormOver } from '../wire/orm-over.ts';
import { wireText } from '../wire/wire-text.ts';
import { WorkCount } from '../work-count.ts';
import { connect, DIRECT } from './connect.ts';
import { HealthProbe } from './health-probe.ts';
import { isForgotten, KeptStatements } from './kept-statements.ts';
import { askForLink } from './link.ts';
import { DEADLINE_MS, Pool } from './pool.ts';
import { serverName } from './server-urls.ts';
import { probeServer, Servers } from './servers.ts';
import { PostgresSession } from './session.ts';
import { databaseName } from './url-parts.ts';

const ENGINE_CONNECTIONS = 6;
const READ_CONNECTIONS = 4;
/** Two, so that one brief read that is slow does not delay the next. */
const BRIEF_CONNECTIONS = 2;
/** A process opens at most so many connections, two of them as sessions while other processes run. */
export const MOST_CONNECTIONS = ENGINE_CONNECTIONS + READ_CONNECTIONS + BRIEF_CONNECTIONS + 2;
const BRIEF_MS = 1_000;
/**
 * The deadline of a script: a migration may rewrite a table, and lifts the server's own limit by `set local
 * statement_timeout`.
 */
const SCRIPT_DEADLINE_MS = 600_000;

/** The place of a server as a sentence names it: without user and password. */
const nameOf = (url: string): string => `The database ${databaseName(url)} at ${serverName(url)}`;

/**
 * A PostgreSQL server (15 or later), over three pools: the engine's raw statements, Drizzle's, and its brief
 * ones.
 */
export class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly #engine: Pool;
  readonly #reads: Pool;
  readonly #brief: Pool;
  readonly #servers: Servers;
  readonly #watch: HealthProbe;
  readonly #kept = new KeptStatements();
  readonly #writes = new RefusedWrites();
  readonly #work = new WorkCount();
  /** Another name: a session that waits would pass for a statement of the pools that the server works on. */
  readonly #sessionName: string;
  #link = DIRECT;
  readonly #orms = new WeakMap<postgres.Sql, Record<'plain' | 'preparing', Orm>>();

  /**
   * Connects when it is first used; of several servers, to the first until another is found to take the
   * writes.
   */
  constructor(
    url: string,
    private readonly patience = 1,
  ) {
    // The name is unique to this process, and distinguishes its statements from another instance's.
    const id = randomBytes(4).toString('hex');
    const name = `posthorn #${id}`;
    this.#sessionName = `posthorn session #${id}`;
    this.#servers = new Servers(url, (each) => probeServer(each, name, this.#link));
    this.#watch = new HealthProbe({
      probe: () => this.#servers.look(),
      replace: () => this.#replace(),
    });
    const pool = (max: number, settings = {}) =>
      new Pool(
        () => {
          const { url, areSeveral } = this.#servers;
          return connect({
            url,
            name,
            max,
            settings,
            patience,
            primaryOnly: areSeveral,
            link: this.#link,
          });
        },
        this.#watch,
        {
          name: () => nameOf(this.#servers.url),
          isPooled: () => this.#link.isPooled,
          away: () => this.#servers.setBack,
          deadlineMs: this.#deadlineMs,
        },
      );
    this.#engine = pool(ENGINE_CONNECTIONS, ENGINE_SETTINGS);
    this.#reads = pool(READ_CONNECTIONS);
    this.#brief = pool(BRIEF_CONNECTIONS, { statement_timeout: `${BRIEF_MS * patience}` });
  }

  /**
   * Opens a database, waits for the one of several servers that takes writes, and finds out whether a pooler
   * is before it. @throws UnavailableError
   */
  static async open(url: string, patience = 1): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(url, patience);
    try {
      if (await database.#servers.find()) database.#replace();
      const { url: found } = database.#servers;
      const link = await askForLink(database.#engine.client, found, database.#deadlineMs);
      database.#link = link ?? DIRECT;
      if (link !== DIRECT) database.#replace();
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  }

  get #deadlineMs(): number {
    return DEADLINE_MS * this.patience;
  }

  #replace(graceMs?: number): void {
    for (const each of [this.#engine, this.#reads, this.#brief]) each.replace(graceMs);
  }

  get refusedWrite(): WriteRefusal | null {
    return this.#writes.latest;
  }

  get worked(): number {
    return this.#work.value;
  }

  query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: QueryOptions = {},
  ): Promise<Row[]> {
    const ask = () => this.#query<Row>(text, parameters, options);
    return options.isRoutine ? ask() : this.#work.during(ask);
  }

  async #query<Row extends object>(
    text: string,
    parameters: readonly Parameter[],
    options: QueryOptions,
  ): Promise<Row[]> {
    const values = parameters.map(wireText);
    const { deadlineMs = this.#deadlineMs, isSearch = false, isPage = false } = options;
    const isRead = isSearch || isPage;
    const rows = await this.#writes.heed(
      text,
      this.#run(isRead ? this.#reads : this.#engine, deadlineMs, !isSearch, (client, prepare) => {
        const running = client.unsafe(text, values, { prepare });
        // Reads may wait for a connection for seconds, as those of Drizzle do: that they have no backend yet
        // shows nothing.
        return isRead ? running.then((found) => found) : running;
      }),
    );
    return rows as unknown as Row[];
  }

  read<Result>(
    run: (orm: Orm) => PromiseLike<Result>,
    { prepared = false, isBrief = false }: ReadOptions = {},
  ): Promise<Result> {
    const running = () =>
      this.#run(isBrief ? this.#brief : this.#reads, this.#deadlineMs, prepared, (client, prepare) => {
        let orms = this.#orms.get(client);
        if (!orms) {
          orms = { plain: ormOver(client, false), preparing: ormOver(client, true) };
          this.#orms.set(client, orms);
        }
        return run(prepare ? orms.preparing : orms.plain);
      });
    // The builder writes as well.
    return this.#work.during(() => this.#writes.heed('', running()));
  }

  /**
   * Runs a statement again that the server had lost, and so has not run, on new connections, which keep no
   * statements; and one that the server rolled back for a deadlock.
   */
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
      // Another of several servers may have taken over.
      if (this.#servers.areSeveral && error instanceof UnavailableError) this.#watch.suspect();
      const left = Math.max(deadlineMs - (performance.now() - begin), 1);
      if (isDeadlocked(error)) return pool.run(left, (client) => use(client, prepare));
      if (!prepare || !isForgotten(error)) throw error;
      if (this.#kept.forgotten(this.#link)) this.#replace(DEADLINE_MS);
      return pool.run(left, (client) => use(client, false));
    }
  }

  async script(text: string): Promise<void> {
    await this.#work.during(() =>
      this.#engine.run(SCRIPT_DEADLINE_MS, (client) => client.unsafe(text).simple()),
    );
  }

  session(onNotification?: (payload: string) => void): DatabaseSession | null {
    const { isPooled } = this.#link;
    const { url, areSeveral: primaryOnly } = this.#servers;
    return isPooled
      ? null
      : new PostgresSession({
          url,
          name: this.#sessionName,
          primaryOnly,
          onNotification,
          link: this.#link,
        });
  }

  async ping(): Promise<number> {
    const start = performance.now();
    await this.query('select 1', [], { deadlineMs: 3_000 });
    return performance.now() - start;
  }

  async close(): Promise<void> {
    this.#watch.stop();
    await Promise.all([this.#engine.close(), this.#reads.close(), this.#brief.close()]);
  }
}
