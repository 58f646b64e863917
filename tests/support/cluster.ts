import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer, type ServerOptions } from '../../src/ops/torture/postgres-server.ts';

/** A real PostgreSQL 18 server that lives in a temporary folder. */
export interface Cluster {
  /** Of the maintenance database, as a superuser; databases may be created and dropped with it. */
  readonly url: string;
  /** The folder of its files. */
  readonly data: string;
  /** `pg_ctl stop -m immediate`: as if the power had failed. */
  strike(): Promise<void>;
  /** Shuts it down; its folder stays. */
  down(): Promise<void>;
  /** Starts it again; after a strike it recovers first. */
  up(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** The same for `process.on('exit')`, where nothing can be awaited. */
  stopNow(): void;
}

/** Many test files run at once, each with its own pools. */
const SETTINGS = { max_connections: '400', max_wal_size: '2GB' };

/**
 * The one that test files share. It is never struck, so that no test of it asks what reached the disk; those
 * that do start another one. Killed services lose nothing by this: what a commit has handed to the kernel
 * outlives every process.
 */
export async function startSharedCluster(): Promise<Cluster> {
  const settings = { fsync: 'off', full_page_writes: 'off' };
  const cluster = await startCluster({ settings });
  await shortenSignIn(cluster.url);
  return cluster;
}

/** Replaces 4,096 rounds of hashing by one at each of the thousands of connections, on this server alone. */
async function shortenSignIn(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe('set scram_iterations = 1');
    await sql.unsafe(`alter role postgres password '${new URL(url).password}'`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Brings a cluster up in about two seconds. */
export async function startCluster({
  settings = {},
  ...place
}: Pick<ServerOptions, 'settings' | 'within'> = {}): Promise<Cluster> {
  const server = await PostgresServer.start({
    ...place,
    programs: packaged(),
    port: await freePort(),
    settings: { ...SETTINGS, ...settings },
  });
  return {
    url: server.url('postgres'),
    data: server.data,
    strike: () => server.strike(),
    down: () => server.shutDown(),
    up: () => server.up(),
    stop: () => server.remove(),
    stopNow: () => server.removeNow(),
  };
}
