import { stopOwnCluster } from '../support/server.ts';
import { faultsOf, killRepeatedly } from './kill.ts';

// bun tests/failure/kill-long.ts [kills] : the long form of kill.test.ts. Exit code 1 when anything was lost
// or doubled.

const kills = Number(process.argv[2] ?? 20);

let found = 0;
for (const database of ['PGlite', 'PostgreSQL'] as const) {
  const report = await killRepeatedly({ database, kills, emails: [50, 1_500], say: console.log });
  found += faultsOf(report);
  console.log(JSON.stringify({ database, kills, ...report }, null, 2));
}
await stopOwnCluster();
console.log(found === 0 ? 'Nothing was lost, nothing was doubled.' : `${found} faults.`);
process.exit(found === 0 ? 0 : 1);
