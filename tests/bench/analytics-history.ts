import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { compareHistory } from '../support/compared-analytics.ts';
import { embeddedStore, postgresStore } from '../support/engine.ts';
import { stopOwnCluster } from '../support/server.ts';

// Analytics beside a count over the events of a generated history, on both databases:
//   bun tests/bench/analytics-history.ts [--events 100000] [--seed N]
// TEST_DATABASE_URL names the PostgreSQL, as for tests.

const numberOf = (name: string, usual: number): number => {
  const at = process.argv.indexOf(name);
  return at === -1 ? usual : Number(process.argv[at + 1]);
};
const events = numberOf('--events', 100_000);
const seed = numberOf('--seed', Date.now() % 1_000_000);

for (const [name, make] of [
  ['PostgreSQL', postgresStore],
  ['PGlite', embeddedStore],
] as const) {
  await using store = await make();
  const other = store.url === null ? null : new PostgresDatabase(store.url);
  const instances = other ? [store.database, other] : [store.database];
  const start = performance.now();
  const history = { workspaceId: 'ws_history', events, seed, checks: 25 };
  const emails = await compareHistory(store, instances, history);
  await other?.close();
  const seconds = ((performance.now() - start) / 1_000).toFixed(0);
  console.log(
    `${name}: ${events} events of ${emails.length} emails, seed ${seed}: every figure equals a count, ${seconds} s.`,
  );
}
await stopOwnCluster();
