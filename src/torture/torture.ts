import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Safeguard } from '../torture-setting.ts';
import { TortureClient } from './client.ts';
import { freePort } from './free-port.ts';
import { Instance } from './instance.ts';
import { judge, type Verdict } from './judge.ts';
import { OutsideRecord, readPerformed } from './outside-record.ts';
import { PostgresServer } from './postgres-server.ts';
import { Relay } from './relay.ts';
import { type Trouble, Troubles } from './troubles.ts';

/** How to torture. */
export interface TortureOptions {
  readonly seconds: number;
  readonly instances: number;
  readonly broken?: Safeguard | undefined;
  readonly seed: number;
  /** The folder of PostgreSQL's programs; null to look for it. */
  readonly postgresBin: string | null;
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  /** Requests under way at most. */
  readonly workers: number;
}

/** What the torture tells while it goes on. */
export interface Progress {
  readonly seconds: number;
  readonly acknowledged: number;
  readonly troubles: number;
}

/** What it came to. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly troubles: ReadonlyMap<Trouble, number>;
  readonly repliesSwallowed: number;
  readonly unanswered: number;
  /** What the instances printed last. */
  readonly output: readonly string[];
}

/** Short, so that a lost attempt is repeated while the torture lasts. */
const LEASE_MS = 1_500;
/** After the trouble everything has this long to come to its end. */
const SETTLE_MS = 60_000;
const DATABASE = 'posthorn';

/** Tortures instances of the service on a PostgreSQL of its own, and judges what is left. */
export async function torture(options: TortureOptions, tell: (progress: Progress) => void): Promise<Outcome> {
  await using stack = new AsyncDisposableStack();
  const server = await PostgresServer.start(options.postgresBin, await freePort());
  const removeNow = () => server.removeNow();
  process.once('exit', removeNow);
  stack.defer(async () => {
    process.off('exit', removeNow);
    await server.remove();
  });
  const token = await prepare(server);
  const home = mkdtempSync(join(tmpdir(), 'posthorn-instances-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const testKey = `svc_test_${randomBytes(16).toString('hex')}`;
  const secretKey = randomBytes(32).toString('hex');
  const relays: Relay[] = [];
  const instances: Instance[] = [];
  const files: string[] = [];
  for (let index = 0; index < options.instances; index++) {
    const relay = await Relay.open(server.port);
    stack.defer(() => relay.close());
    relays.push(relay);
    const record = join(home, `performed-${index}`);
    files.push(record);
    const instance = new Instance({
      command: options.command,
      port: await freePort(),
      databaseUrl: server.url(DATABASE, relay.port),
      dataDir: join(home, `data-${index}`),
      secretKey,
      testKey,
      torture: {
        token,
        record,
        leaseMs: LEASE_MS,
        seed: 1,
        ...(options.broken ? { break: options.broken } : {}),
      },
    });
    stack.defer(() => instance.end('SIGKILL'));
    instances.push(instance);
  }
  // One after the other: the first one makes the schema and the keys.
  for (const [index, instance] of instances.entries()) {
    instance.start(options.seed + index);
    await instance.ready();
  }

  const record = new OutsideRecord();
  const client = new TortureClient({
    urls: instances.map(({ url }) => url),
    key: testKey,
    record,
    seed: options.seed,
    workers: options.workers,
  });
  const troubles = new Troubles({
    instances,
    relays,
    postgres: server,
    leaseMs: LEASE_MS,
    seed: options.seed,
  });
  client.start();
  troubles.start();
  const begin = performance.now();
  while (performance.now() - begin < options.seconds * 1_000) {
    await Bun.sleep(1_000);
    const seconds = Math.round((performance.now() - begin) / 1_000);
    const made = [...troubles.counts.values()].reduce((sum, count) => sum + count, 0);
    tell({ seconds, acknowledged: record.acknowledged.size, troubles: made });
  }
  await troubles.stop();
  await client.stop();
  const url = server.url(DATABASE);
  await settled(url);
  return {
    verdict: await judge(url, record, readPerformed(files)),
    troubles: troubles.counts,
    repliesSwallowed: relays.reduce((sum, { swallowed }) => sum + swallowed, 0),
    unanswered: record.unanswered,
    output: instances.map(({ output }) => output),
  };
}

/** Makes the database, and puts the token into it without which no instance lets itself be tortured. */
async function prepare(server: PostgresServer): Promise<string> {
  const admin = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${DATABASE}`);
  await admin.end();
  const token = randomBytes(16).toString('hex');
  const sql = postgres(server.url(DATABASE), { max: 1, onnotice: () => {} });
  await sql`create table torture (token text not null)`;
  await sql`insert into torture (token) values (${token})`;
  await sql.end();
  return token;
}

/** Waits until nothing waits any more, or until nothing can be expected any more. */
async function settled(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const deadline = performance.now() + SETTLE_MS;
    while (performance.now() < deadline) {
      const [row] = await sql<{ busy: boolean }[]>`
        select exists (select from emails where wake_at < now() + interval '1 hour') or exists (select from mail) as busy`;
      if (!row?.busy) return;
      await Bun.sleep(200);
    }
  } finally {
    await sql.end();
  }
}
