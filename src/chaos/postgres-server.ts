import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountForPostgres, findPrograms, reachablePrograms } from './postgres-programs.ts';

/** A durability test is worth nothing unless a commit reaches the disk: fsync and synchronous_commit stay on. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
};

/** A PostgreSQL server in a temporary folder that can be killed and started again. */
export class PostgresServer {
  #process: ChildProcess | null = null;

  private constructor(
    private readonly home: string,
    private readonly programs: string,
    readonly port: number,
    private readonly password: string,
  ) {}

  /** Creates a cluster and starts it. @throws NoPostgres */
  static async start(programs: string | null, port: number): Promise<PostgresServer> {
    const found = findPrograms(programs);
    const account = accountForPostgres();
    const home = mkdtempSync(join(tmpdir(), 'posthorn-torture-'));
    if (account.uid !== undefined && account.gid !== undefined) chownSync(home, account.uid, account.gid);
    try {
      const bin = reachablePrograms(found, account, home);
      const password = randomBytes(16).toString('hex');
      initialise(bin, home, password);
      const server = new PostgresServer(home, bin, port, password);
      await server.up();
      return server;
    } catch (error) {
      rmSync(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** The URL of a database, through the port of a relay when one is given. */
  url(database: string, port = this.port): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/${database}`;
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  /** Starts the server; after a crash it recovers first. */
  async up(): Promise<void> {
    const flags = Object.entries({ ...SETTINGS, port: this.port }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const server = spawn(join(this.programs, 'postgres'), ['-D', join(this.home, 'data'), ...flags], {
      ...accountForPostgres(),
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own: Ctrl-C must reach the caller first, which then stops the server.
      detached: true,
    });
    let log = '';
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
    server.once('error', reject);
    await promise;
    this.#process = server;
  }

  /** Ends the server like a power failure (`pg_ctl stop -m immediate`). */
  strike(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  /** Shuts the server down and removes its folder. */
  async remove(): Promise<void> {
    await this.#end('SIGINT');
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Removes the server in a handler of `exit`, where nothing can be awaited. */
  removeNow(): void {
    this.#process?.kill('SIGQUIT');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (server?.exitCode === null && server.kill(signal)) await once(server, 'exit');
  }
}

function initialise(bin: string, home: string, password: string): void {
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password);
  const made = spawnSync(
    join(bin, 'initdb'),
    [
      `--pgdata=${join(home, 'data')}`,
      `--pwfile=${passwordFile}`,
      '--username=postgres',
      '--auth=password',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...accountForPostgres(), encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
}
