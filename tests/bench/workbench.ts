import postgres from 'postgres';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { type Service, startService } from '../support/service.ts';
import type { Row } from './table.ts';

/** One part of the bench: some rows of the table. */
export interface Section {
  readonly name: string;
  run(bench: Workbench): Promise<readonly Row[]>;
}

/** How long and how much a run measures. */
export interface Scale {
  readonly seconds: number;
  readonly emails: number;
  /** The executable; from source when empty. */
  readonly executable: string;
}

/** What every section of a run shares: one PostgreSQL, the scale, and progress on stderr. */
export class Workbench implements AsyncDisposable {
  /** What was measured and is no rate: printed under the table. */
  readonly remarks: string[] = [];
  readonly #stack = new AsyncDisposableStack();

  private constructor(
    readonly cluster: Cluster,
    readonly scale: Scale,
  ) {
    this.#stack.defer(() => cluster.stop());
  }

  static async open(scale: Scale): Promise<Workbench> {
    return new Workbench(await startCluster(), scale);
  }

  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** An empty database of that name, and its URL. */
  async database(name: string): Promise<string> {
    const sql = postgres(this.cluster.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(`drop database if exists ${name} with (force)`);
    await sql.unsafe(`create database ${name}`);
    await sql.end();
    const url = new URL(this.cluster.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** The service on a database, without limits unless `env` sets some. */
  async service(url: string, env: Record<string, string> = {}): Promise<Service> {
    const { executable } = this.scale;
    const service = await startService({
      env: {
        DATABASE_URL: url,
        TEST_SENDS_PER_DAY: '0',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
        SECRET_KEY: 'a bench has no secrets, but needs a key',
        ...env,
      },
      ...(executable ? { command: [executable] } : {}),
    });
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
