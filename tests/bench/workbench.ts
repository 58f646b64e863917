import postgres from 'postgres';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { type Service, startService } from '../support/service.ts';
import { meterCpu, parentOf } from './cpu.ts';
import type { Figures } from './figures.ts';
import type { CpuPerItem, Row } from './table.ts';

/** One part of the bench: some rows of the table. */
export interface Section {
  readonly name: string;
  run(bench: Workbench): Promise<readonly Row[]>;
}

/** The length and size of a run. */
export interface Scale {
  readonly seconds: number;
  readonly emails: number;
  /** Emails of the lives section. */
  readonly lives: number;
  /** Emails of the backlog, and the seconds within which they are due. */
  readonly backlog: number;
  readonly windowSeconds: number;
  /** Emails in the database that is read from. */
  readonly reads: number;
  /** Rows of the files of contacts. */
  readonly imports: number;
  readonly embeddedImports: number;
  /** Contacts that lists, searches and previews are made of. */
  readonly contacts: number;
  /** Recipients of the campaign. */
  readonly campaigns: number;
  /**
   * The longest time of giving it out: where two cores sign everything, a million takes most of half an hour.
   */
  readonly givingMs: number;
  /** Runs of flows that wait. */
  readonly runs: number;
  /** The time for which a transaction is held open. */
  readonly holdSeconds: number;
  /** The same without one. Shorter: tables that have grown less can only flatter it. */
  readonly freeSeconds: number;
  /** Rounds of the comparisons that take turns. */
  readonly rounds: number;
  /** The executable; from source when empty. */
  readonly executable: string;
}

/** Shared by all sections of a run: one PostgreSQL, the scale, and progress on stderr. */
export class Workbench implements AsyncDisposable {
  #remarks: string[] = [];
  #figures: Figures = {};
  readonly #stack = new AsyncDisposableStack();

  private constructor(
    readonly cluster: Cluster,
    /** The process that all backends come from. */
    readonly serverPid: number,
    readonly scale: Scale,
  ) {
    this.#stack.defer(() => cluster.stop());
  }

  static async open(scale: Scale): Promise<Workbench> {
    const cluster = await startCluster();
    const sql = postgres(cluster.url, { max: 1 });
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const server = parentOf(backend?.pid ?? 0);
    await sql.end();
    return new Workbench(cluster, server, scale);
  }

  /** Keeps what was measured and is no row: printed under the table. */
  remark(text: string): void {
    this.#remarks.push(text);
  }

  /** Keeps figures that other programs reckon with. */
  keep(figures: Figures): void {
    this.#figures = { ...this.#figures, ...figures };
  }

  /** The figures since the last call. */
  takeFigures(): Figures {
    const figures = this.#figures;
    this.#figures = {};
    return figures;
  }

  /** The remarks since the last call. */
  takeRemarks(): readonly string[] {
    const remarks = this.#remarks;
    this.#remarks = [];
    return remarks;
  }

  /**
   * Starts measuring the processor time of services (`process` where this one does the work) and of
   * PostgreSQL; the answer divides it by a number of items.
   */
  meterCpu(...services: readonly { readonly pid: number }[]): (items: number) => CpuPerItem {
    return meterCpu(
      services.map(({ pid }) => pid),
      this.serverPid,
    );
  }

  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** An empty database of that name, and its URL. */
  async database(name: string): Promise<string> {
    await this.#administer(`drop database if exists ${name} with (force)`, `create database ${name}`);
    const url = new URL(this.cluster.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** Gives the disk of a large database back before the next section. */
  drop(name: string): Promise<void> {
    return this.#administer(`drop database if exists ${name} with (force)`);
  }

  async #administer(...statements: readonly string[]): Promise<void> {
    const sql = postgres(this.cluster.url, { max: 1, onnotice: () => {} });
    for (const statement of statements) await sql.unsafe(statement);
    await sql.end();
  }

  /** The service on a database, without limits unless `env` sets some; another program where one is given. */
  async service(
    url: string,
    env: Record<string, string> = {},
    program?: readonly string[],
  ): Promise<Service> {
    const { executable } = this.scale;
    const command = program ?? (executable ? [executable] : undefined);
    return await startService({
      env: {
        DATABASE_URL: url,
        TEST_SENDS_PER_DAY: '0',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
        SECRET_KEY: 'a bench has no secrets, but needs a key',
        ...env,
      },
      ...(command ? { command } : {}),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
