import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../support/cluster.ts';
import { COMMAND, startService } from '../support/service.ts';
import { meterCpu, meterThreads, parentOf } from './cpu.ts';
import { onlooker } from './lives.ts';
import { memoryOf } from './memory.ts';

// The price of a service that has nothing to do: processor time, statements and memory, with the embedded
// database and with PostgreSQL, alone and as one of two.
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/idle.ts [seconds] [--statements] [--threads]
// --executables A,B takes turns, --rounds times. --only embedded,one,two leaves out the others. --statements
// lists what PostgreSQL was asked, by its number; --threads the threads of the service by their processor
// time.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    executables: { type: 'string', default: '' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'embedded,one,two' },
    statements: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(positionals[0] ?? 300);
const only = values.only.split(',');
const executables = values.executables === '' ? [null] : values.executables.split(',');
/** Starting, compiling, the first looks, and two instances getting to know each other are over by then. */
const SETTLED_MS = 45_000;

const secret = { SECRET_KEY: 'only-for-this-bench-only-for-this-bench', LOG_LEVEL: 'warn' };
const percent = (us: number): string => `${(us / SECONDS / 10_000).toFixed(2)} % of a core`;
const perSecond = (count: number): string => (count / SECONDS).toFixed(2);

const start = (executable: string | null, env: Record<string, string>, dataDir?: string) =>
  startService({
    command: executable === null ? COMMAND : [resolve(executable)],
    env: { PROFILE: 'development', ...secret, ...env },
    ...(dataDir !== undefined && { dataDir }),
  });

function sayThreads(threads: Readonly<Record<string, number>>): void {
  if (!values.threads) return;
  for (const [name, us] of Object.entries(threads).sort(([, a], [, b]) => b - a))
    if (us / SECONDS >= 10) console.log(`  ${percent(us)}  ${name}`);
}

async function onServer(executable: string | null, instances: number): Promise<void> {
  const cluster = await startCluster({ settings: { shared_preload_libraries: 'pg_stat_statements' } });
  try {
    const sql = onlooker(cluster.url);
    await sql.unsafe('create extension pg_stat_statements');
    await using stack = new AsyncDisposableStack();
    const services = [];
    for (let n = 0; n < instances; n++)
      services.push(stack.use(await start(executable, { DATABASE_URL: cluster.url })));
    await Bun.sleep(SETTLED_MS);
    const commits = async () =>
      (
        await sql<{ n: number }[]>`select xact_commit::float8 as n from pg_stat_database
          where datname = current_database()`
      )[0]?.n ?? 0;
    await sql.unsafe('select pg_stat_statements_reset()');
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const before = await commits();
    const threads = meterThreads(services[0]?.pid ?? 0);
    const cpu = meterCpu(
      services.map(({ pid }) => pid),
      parentOf(backend?.pid ?? 0),
    );
    await Bun.sleep(SECONDS * 1_000);
    const spent = cpu(1);
    const spentBy = threads(1);
    const transactions = (await commits()) - before;
    const statements = await sql<{ calls: number; query: string }[]>`
      select calls::float8 as calls, query from pg_stat_statements where query not like '%pg_stat_%' order by calls desc`;
    console.log(
      `with PostgreSQL, ${instances === 1 ? 'alone' : `${instances} instances together`}:`,
      `${percent(spent.service)} of the service, ${percent(spent.postgres)} of PostgreSQL;`,
      `${perSecond(statements.reduce((sum, { calls }) => sum + calls, 0))} statements and`,
      `${perSecond(transactions)} transactions a second; ${services.map(({ pid }) => memoryOf(pid).now).join(', ')} MB`,
    );
    for (const { calls, query } of values.statements ? statements : [])
      console.log(`  ${perSecond(calls)}  ${query.replace(/\s+/g, ' ').slice(0, 160)}`);
    sayThreads(spentBy);
    await sql.end();
  } finally {
    await cluster.stop();
  }
}

async function embedded(executable: string | null): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-idle-'));
  try {
    await using service = await start(executable, { DATABASE_URL: '' }, dataDir);
    await Bun.sleep(SETTLED_MS);
    const threads = meterThreads(service.pid);
    const cpu = meterCpu([service.pid], 0);
    await Bun.sleep(SECONDS * 1_000);
    console.log(`embedded: ${percent(cpu(1).service)}; ${memoryOf(service.pid).now} MB`);
    sayThreads(threads(1));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

for (let round = 0; round < Number(values.rounds); round++)
  for (const executable of executables) {
    if (executable !== null) console.log(`— ${executable}`);
    if (only.includes('embedded')) await embedded(executable);
    if (only.includes('one')) await onServer(executable, 1);
    if (only.includes('two')) await onServer(executable, 2);
  }
process.exit(0);
