import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { accountForPostgres } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';

/** The extension is not where the programs of PostgreSQL are; the sentence says what to do. */
export class NoCitus extends Error {
  override readonly name = 'NoCitus';
}

interface ClusterOptions {
  /** The folder of initdb and postgres, of an installation that has Citus; null looks for one. */
  readonly programs: string | null;
  /** Nodes beside the coordinator; 0 has the coordinator hold the shards. */
  readonly workers: number;
  /** Settings of every node beside those that Citus takes. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Is given what the coordinator logs. */
  readonly onLog?: (text: string) => void;
}

/** Few enough that a walk on a small machine takes seconds, and more than there are nodes. */
const SHARDS = '8';

/** A coordinator of Citus and its workers, each a separate PostgreSQL on loopback, in temporary folders. */
export class CitusCluster {
  private constructor(
    private readonly nodes: readonly PostgresServer[],
    private readonly home: string,
  ) {}

  /** Starts it. @throws NoCitus, NoPostgres */
  static async start({ workers, onLog, ...node }: ClusterOptions): Promise<CitusCluster> {
    const home = mkdtempSync(join(tmpdir(), 'posthorn-citus-'));
    const passwords = join(home, 'passwords');
    // The nodes ask each other for their passwords, and find them where every client of PostgreSQL looks.
    process.env.PGPASSFILE = passwords;
    const nodes: PostgresServer[] = [];
    const cluster = new CitusCluster(nodes, home);
    try {
      while (nodes.length <= workers)
        nodes.push(await startNode(node, nodes.length === 0 ? onLog : undefined));
      // Citus gives the roles of the coordinator to its workers, with their passwords.
      const { password } = new URL(cluster.url);
      for (const worker of cluster.workers)
        await administer(worker.url('postgres'), (sql) =>
          sql.unsafe(`alter role postgres password '${password}'`),
        );
      writeFileSync(passwords, `127.0.0.1:*:*:postgres:${password}\n`);
      chmodSync(passwords, 0o600);
      const { uid, gid } = accountForPostgres();
      if (uid !== undefined && gid !== undefined)
        for (const path of [home, passwords]) chownSync(path, uid, gid);
      return cluster;
    } catch (error) {
      cluster.stopNow();
      throw error;
    }
  }

  /** The coordinator's maintenance database. */
  get url(): string {
    return this.coordinator.url('postgres');
  }

  get coordinator(): PostgresServer {
    const [first] = this.nodes;
    if (!first) throw new Error('The cluster has no node.');
    return first;
  }

  get workers(): readonly PostgresServer[] {
    return this.nodes.slice(1);
  }

  /**
   * Makes a database on every node, with the extension, and the nodes known to the coordinator; answers its
   * URL there.
   */
  async createDatabase(name: string): Promise<string> {
    for (const { port } of this.nodes) {
      const maintenance = this.coordinator.url('postgres', port);
      await administer(maintenance, (sql) => sql.unsafe(`create database ${name}`));
      await administer(this.coordinator.url(name, port), (sql) => sql.unsafe('create extension citus'));
    }
    await administer(this.coordinator.url(name), async (sql) => {
      await sql`select citus_set_coordinator_host('127.0.0.1', ${this.coordinator.port})`;
      for (const { port } of this.workers) await sql`select citus_add_node('127.0.0.1', ${port})`;
      if (this.workers.length === 0)
        await sql`select citus_set_node_property('127.0.0.1', ${this.coordinator.port}, 'shouldhaveshards', true)`;
    });
    return this.coordinator.url(name);
  }

  /** Makes a database of one server beside it; answers its URL. */
  async createPlainDatabase(name: string): Promise<string> {
    await administer(this.url, (sql) => sql.unsafe(`create database ${name}`));
    return this.coordinator.url(name);
  }

  /** Has every connection to that database have these settings from now on. */
  async alter(name: string, settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [setting, value] of Object.entries(settings))
      await administer(this.url, (sql) => sql.unsafe(`alter database ${name} set ${setting} to '${value}'`));
  }

  /** The version that is installed, as Citus tells it. */
  async version(name: string): Promise<string> {
    return administer(this.coordinator.url(name), async (sql) => {
      const [row] = await sql<{ said: string }[]>`select citus_version() || ' on ' || version() as said`;
      return row?.said ?? '';
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
    rmSync(this.home, { recursive: true, force: true });
  }

  /** The same in a handler of `exit`. */
  stopNow(): void {
    for (const node of this.nodes) node.removeNow();
    rmSync(this.home, { recursive: true, force: true });
  }
}

async function startNode(
  { programs, settings = {} }: Pick<ClusterOptions, 'programs' | 'settings'>,
  onLog: (text: string) => void = () => {},
): Promise<PostgresServer> {
  try {
    return await PostgresServer.start({
      programs,
      port: await freePort(),
      onLog,
      settings: {
        max_connections: '300',
        shared_preload_libraries: 'citus',
        'citus.shard_count': SHARDS,
        // Nodes on one machine have no certificates.
        'citus.node_conninfo': 'sslmode=disable',
        ...settings,
      },
    });
  } catch (error) {
    if (error instanceof Error && /could not access file "citus"/.test(error.message))
      throw new NoCitus(
        'This PostgreSQL has no Citus. Install it (https://docs.citusdata.com/en/stable/installation), or name the programs of a PostgreSQL that has it with --postgres-bin.',
      );
    throw error;
  }
}

async function administer<Result>(
  url: string,
  task: (sql: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await task(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
