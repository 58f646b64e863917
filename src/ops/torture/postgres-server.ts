import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountForPostgres, findPrograms, reachablePrograms } from './postgres-programs.ts';

/**
 * A durability test is worth nothing unless a commit reaches the disk: fsync and synchronous_commit stay on.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** The place and the settings of a server. */
export interface ServerOptions {
  /** The folder of initdb and postgres; null looks for one. */
  readonly programs: string | null;
  readonly port: number;
  /** Settings besides those above, or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder that the server's own is made in. */
  readonly within?: string;
  /** Is given what the server logs, as it comes. */
  readonly onLog?: (text: string) => void;
}

/** The line of postmaster.pid that says how far a server is, counted from 0. */
const STATUS_LINE = 7;
/** Between two looks at whether a server is up. It takes half a second at least. */
const LOOK_MS = 20;

/** A PostgreSQL server in a temporary folder that can be killed and started again. */
export class PostgresServer {
  #process: ChildProcess | null = null;

  private constructor(
    private readonly home: string,
    private readonly programs: string,
    private readonly settings: ServerOptions['settings'],
    readonly port: number,
    private readonly password: string,
    private readonly onLog: (text: string) => void,
  ) {}

  /** Creates a cluster and starts it. @throws NoPostgres */
  static async start({
    programs,
    port,
    settings,
    within = tmpdir(),
    onLog = () => {},
  }: ServerOptions): Promise<PostgresServer> {
    const found = findPrograms(programs);
    const account = accountForPostgres();
    const home = mkdtempSync(join(within, 'posthorn-postgres-'));
    if (account.uid !== undefined && account.gid !== undefined) chownSync(home, account.uid, account.gid);
    try {
      const bin = reachablePrograms(found, account, home);
      const password = randomBytes(16).toString('hex');
      initialise(bin, home, password);
      const server = new PostgresServer(home, bin, settings, port, password, onLog);
      await server.up();
      return server;
    } catch (error) {
      rmSync(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** Copies this server, which must be down, to one that will follow it; both are started by `up`. */
  standby(port: number, settings: ServerOptions['settings'] = {}): PostgresServer {
    const home = `${this.home}-standby-${port}`;
    cpSync(this.data, join(home, 'data'), { recursive: true });
    writeFileSync(join(home, 'data', 'standby.signal'), '');
    const { uid, gid } = accountForPostgres();
    if (uid !== undefined && gid !== undefined) spawnSync('chown', ['-R', `${uid}:${gid}`, home]);
    chmodSync(join(home, 'data'), 0o700);
    const leader = `host=127.0.0.1 port=${this.port} user=postgres password=${this.password} application_name=standby`;
    const follows = { ...this.settings, ...settings, primary_conninfo: leader };
    return new PostgresServer(home, this.programs, follows, port, this.password, this.onLog);
  }

  /** The URL of a database, through the port of a relay when one is given. */
  url(database: string, port = this.port): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/${database}`;
  }

  /** The folder of the cluster. */
  get data(): string {
    return join(this.home, 'data');
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  /** Starts the server; after a crash it recovers first. */
  async up(): Promise<void> {
    const settings = { ...SETTINGS, ...this.settings, port: this.port };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(join(this.programs, 'postgres'), ['-D', this.data, ...flags], {
      ...accountForPostgres(),
      stdio: ['ignore', 'ignore', 'pipe'],
      // A separate process group: Ctrl-C must reach the caller first, which then stops the server.
      detached: true,
    });
    let log = '';
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.stderr.on('data', (chunk: Buffer) => {
      const text = chunk.toString();
      this.onLog(text);
      log = (log + text).slice(-4_000);
    });
    // As pg_ctl does: the settings may send what the server logs elsewhere, or nowhere.
    const looks = setInterval(() => {
      if (this.#isReady(server.pid)) resolve();
    }, LOOK_MS);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
    server.once('error', reject);
    await promise.finally(() => clearInterval(looks));
    // The server alone does not keep the process of its owner alive.
    server.unref();
    (server.stderr as unknown as { unref?: () => void }).unref?.();
    this.#process = server;
  }

  /** Ends the server like a power failure (`pg_ctl stop -m immediate`). */
  strike(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  /** Shuts the server down as an operator does. */
  shutDown(): Promise<void> {
    return this.#end('SIGINT');
  }

  /** Shuts the server down and removes its folder. */
  async remove(): Promise<void> {
    await this.shutDown();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Removes the server in a handler of `exit`, where nothing can be awaited. */
  removeNow(): void {
    this.#process?.kill('SIGQUIT');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 });
  }

  /** True when the file that the server keeps says that it, and not one before it, takes connections. */
  #isReady(pid: number | undefined): boolean {
    try {
      const lines = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n');
      return Number(lines[0]) === pid && /^(ready|standby) *$/.test(lines[STATUS_LINE] ?? '');
    } catch {
      return false;
    }
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
