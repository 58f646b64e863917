import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Database } from '../../src/platform/db/database.ts';
import { distribute } from '../../src/platform/db/distribution/distribute.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { ensurePartitions } from '../../src/platform/db/partitions.ts';
import { serverUrl } from './server.ts';

/**
 * A database of one test's own. `await using database = await createTestDatabase()` cannot forget to drop it.
 */
export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  close(): Promise<void>;
}

const MIGRATIONS = join(import.meta.dir, '../../drizzle');

/** With a pooler, tests go through it, and the administration of databases does not. */
const POOLER = process.env.TEST_POOLER_URL;

/** On a node of Citus that holds shards, tests run on databases that are distributed on it. */
const IS_CITUS = process.env.TEST_CITUS === 'true';

/**
 * Named after the migrations' content, so that a server that outlives the run never offers a stale template.
 */
const TEMPLATE = `posthorn_template_${digestOfMigrations()}${IS_CITUS ? '_citus' : ''}`;

/** Names what was made by these migrations and no others. */
export function digestOfMigrations(): string {
  const hasher = new Bun.CryptoHasher('sha256');
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'));
  for (const file of files.sort()) hasher.update(file).update(readFileSync(join(MIGRATIONS, file)));
  return hasher.digest('hex').slice(0, 12);
}

const templates = new Map<string, Promise<void>>();

/** The template of that name; the first caller of all processes makes it. */
function templateOf(name: string, make: () => Promise<unknown>): Promise<void> {
  const known = templates.get(name) ?? prepareTemplate(name, make);
  templates.set(name, known);
  return known;
}

/**
 * A fresh, migrated database: a clone of the template, some 60 ms; or one of another database without
 * connections.
 */
export async function createTestDatabase(like?: TestDatabase): Promise<TestDatabase> {
  await templateOf(TEMPLATE, makeMigrated);
  // A pooler keeps connections after their clients have gone.
  if (POOLER && like)
    await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${like.name}'`);
  return cloneOf(like?.name ?? TEMPLATE);
}

/**
 * The same with the partitions of these days, for a service that will start on it: to make them takes
 * PostgreSQL 0.07 s of processor time at every first start, and to copy them no more than a database without.
 */
export async function createServedDatabase(): Promise<TestDatabase> {
  await templateOf(TEMPLATE, makeMigrated);
  if (IS_CITUS) return cloneOf(TEMPLATE);
  const name = `${TEMPLATE}_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
  await templateOf(name, async () => {
    await administer(`create database ${name} template ${TEMPLATE}`);
    await using database = await opened(name);
    await ensurePartitions(database, Date.now());
  });
  return cloneOf(name);
}

async function cloneOf(template: string): Promise<TestDatabase> {
  const name = `posthorn_test_${randomBytes(6).toString('hex')}`;
  // Files are copied as such: 0.03 s of processor time instead of 0.05, and a drop takes 0.01 instead of
  // 0.03.
  await administer(`create database ${name} template ${template} strategy file_copy`);
  const close = () => administer(`drop database if exists ${name} with (force)`);
  return { name, url: await urlOf(name), close, [Symbol.asyncDispose]: close };
}

async function prepareTemplate(name: string, make: () => Promise<unknown>): Promise<void> {
  await administerAlone(async (sql) => {
    // Test files may run in several processes at once; one of them makes the template.
    await sql`select pg_advisory_lock(hashtext(${name}))`;
    const [found] = await sql`select 1 from pg_database where datname = ${name} and datistemplate`;
    if (found) return;
    await sql.unsafe(`drop database if exists ${name} with (force)`);
    await make();
    // Marked last: a run killed half-way leaves a database that the next one replaces.
    await sql.unsafe(`alter database ${name} with is_template true allow_connections false`);
    // Citus keeps a connection to what it looks after.
    await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`;
  });
}

async function makeMigrated(): Promise<void> {
  await administer(`create database ${TEMPLATE}`);
  if (IS_CITUS) await becomeNode(onServer(await serverUrl(), TEMPLATE));
  await using database = await opened(TEMPLATE);
  await migrate(database);
  if (IS_CITUS) await distribute(database);
}

async function opened(name: string): Promise<Database & AsyncDisposable> {
  const database = await openDatabase({ url: onServer(await serverUrl(), name), dataDir: null });
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Has a database be the only node of a cluster. */
async function becomeNode(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe('create extension citus');
    const port = Number(new URL(url).port);
    await sql`select citus_set_coordinator_host('127.0.0.1', ${port})`;
    await sql`select citus_set_node_property('127.0.0.1', ${port}, 'shouldhaveshards', true)`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function urlOf(name: string): Promise<string> {
  return onServer(POOLER ?? (await serverUrl()), name);
}

function onServer(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

let administrator: postgres.Sql | undefined;

/**
 * One connection for all databases of this process: to open one takes 0.03 s of processor time on both sides,
 * and every database is created and dropped. It closes by itself once nothing is asked of it, and opens
 * again.
 */
async function administer(statement: string): Promise<void> {
  administrator ??= postgres(await serverUrl(), {
    max: 1,
    idle_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
  });
  await administrator.unsafe(statement);
}

/** The same on a connection that ends with the task, and with it the locks of its session. */
async function administerAlone(task: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(await serverUrl(), { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await task(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
