import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../support/cluster.ts';
import { startService } from '../support/service.ts';
import { meterCpu, parentOf, timeOf } from './cpu.ts';
import { onlooker } from './lives.ts';
import { memoryOf } from './memory.ts';

// The price of a service that has nothing to do: processor time, statements and memory, with PostgreSQL and with the
// embedded database.
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/idle.ts [seconds] [--statements]
// --statements lists the statements that PostgreSQL was asked, by their number.
const SECONDS = Number(process.argv[2] ?? 300);
const LISTS = process.argv.includes('--statements');
/** Starting, compiling and the first looks are over by then. */
const SETTLED_MS = 20_000;

const secret = { SECRET_KEY: 'only-for-this-bench-only-for-this-bench', LOG_LEVEL: 'warn' };
const percent = (us: number): string => `${(us / SECONDS / 10_000).toFixed(2)} % of a core`;

async function onServer(): Promise<void> {
  const cluster = await startCluster({ settings: { shared_preload_libraries: 'pg_stat_statements' } });
  try {
    const sql = onlooker(cluster.url);
    await sql.unsafe('create extension pg_stat_statements');
    await using service = await startService({ env: { ...secret, DATABASE_URL: cluster.url } });
    await Bun.sleep(SETTLED_MS);
    await sql.unsafe('select pg_stat_statements_reset()');
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const cpu = meterCpu([service.pid], parentOf(backend?.pid ?? 0));
    await Bun.sleep(SECONDS * 1_000);
    const spent = cpu(1);
    const statements = await sql<{ calls: number; query: string }[]>`
      select calls::float8 as calls, query from pg_stat_statements where query not like '%pg_stat_statements%' order by calls desc`;
    const perSecond = statements.reduce((sum, { calls }) => sum + calls, 0) / SECONDS;
    console.log(
      `with PostgreSQL: ${percent(spent.service)} of the service, ${percent(spent.postgres)} of PostgreSQL;`,
      `${perSecond.toFixed(2)} statements a second; ${memoryOf(service.pid).now} MB`,
    );
    for (const { calls, query } of LISTS ? statements : [])
      console.log(`  ${(calls / SECONDS).toFixed(2)}  ${query.replace(/\s+/g, ' ').slice(0, 160)}`);
    await sql.end();
  } finally {
    await cluster.stop();
  }
}

async function embedded(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-idle-'));
  try {
    await using service = await startService({ env: { ...secret, DATABASE_URL: '' }, dataDir });
    await Bun.sleep(SETTLED_MS);
    const before = timeOf(service.pid).process;
    await Bun.sleep(SECONDS * 1_000);
    const spent = timeOf(service.pid).process - before;
    console.log(`embedded: ${percent(spent)}; ${memoryOf(service.pid).now} MB`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await onServer();
await embedded();
process.exit(0);
