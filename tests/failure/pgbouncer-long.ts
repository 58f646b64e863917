import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startSharedCluster } from '../support/cluster.ts';
import { PgBouncer } from './pgbouncer.ts';

// The tests of the engine and of the contract, each database of theirs behind a PgBouncer in transaction
// mode. On Debian: apt-get install pgbouncer; then
//   bun tests/failure/pgbouncer-long.ts [paths of tests] [flags of bun test]
// The administration of databases goes past it, as an operator's own psql does.

/** The engine over its own database, and everything that the API promises. */
const TESTS = ['tests/integration/engine', 'tests/integration/lost-statements', 'tests/contract'];

const cluster = await startSharedCluster();
const pooler = await PgBouncer.start(cluster.url);
const words = process.argv.slice(2);
try {
  const run = spawn(process.execPath, ['tests/run.ts', ...(words.length > 0 ? words : TESTS)], {
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: cluster.url, TEST_POOLER_URL: pooler.url },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => run.kill(signal));
  const [code] = (await once(run, 'close')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await pooler.stop();
  await cluster.stop();
}
