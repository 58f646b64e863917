import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { accountForPostgres } from '../../src/ops/torture/postgres-programs.ts';
import { eventually } from '../support/eventually.ts';

/** The settings that the service sends at the start of a connection; PgBouncer refuses unknown ones. */
const IGNORED = [
  'extra_float_digits',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'jit',
  'plan_cache_mode',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_seqscan',
];

/** A PgBouncer in transaction mode in front of every database of a server. */
export class PgBouncer {
  private constructor(
    /** Of the same database as the server's URL. */
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly home: string,
    private readonly output: () => string,
  ) {}

  /** Starts the program `pgbouncer` of PATH. */
  static async start(serverUrl: string, poolSize = 20): Promise<PgBouncer> {
    const server = new URL(serverUrl);
    const home = mkdtempSync(join(tmpdir(), 'posthorn-pgbouncer-'));
    const port = await freePort();
    const users = join(home, 'users.txt');
    const file = join(home, 'pgbouncer.ini');
    writeFileSync(users, `"${server.username}" "${server.password}"\n`);
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: users,
      admin_users: server.username,
      pool_mode: 'transaction',
      default_pool_size: poolSize,
      max_client_conn: 2_000,
      // Each test has a separate database, and drops it.
      server_idle_timeout: 5,
      ignore_startup_parameters: IGNORED.join(','),
      log_connections: 0,
      log_disconnections: 0,
    };
    writeFileSync(
      file,
      [
        '[databases]',
        `* = host=${server.hostname} port=${server.port}`,
        '[pgbouncer]',
        ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    );
    const account = accountForPostgres();
    for (const path of [home, users, file])
      if (account.uid !== undefined && account.gid !== undefined) chownSync(path, account.uid, account.gid);
    const child = spawn('pgbouncer', [file], {
      ...account,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-8_000);
    });
    child.once('error', (error) => {
      said += error.message;
    });
    process.once('exit', () => child.kill('SIGKILL'));
    const url = new URL(serverUrl);
    url.port = String(port);
    const pooler = new PgBouncer(url.href, child, home, () => said);
    try {
      await eventually('PgBouncer', () => pooler.#answers(), { withinMs: 20_000 });
      return pooler;
    } catch (error) {
      await pooler.stop();
      throw new Error(`PgBouncer did not start. It said:\n${said}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.kill('SIGKILL')) await once(this.process, 'exit');
    rmSync(this.home, { recursive: true, force: true });
  }

  said(): string {
    return this.output();
  }

  async #answers(): Promise<true> {
    const sql = postgres(this.url, { max: 1, connect_timeout: 1 });
    try {
      await sql.unsafe('select 1').simple();
      return true;
    } finally {
      await sql.end({ timeout: 0 });
    }
  }
}
