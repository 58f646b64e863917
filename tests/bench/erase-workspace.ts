import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Database } from '../../src/db/database.ts';
import { PostgresDatabase } from '../../src/db/postgres.ts';
import { eraseWorkspace, journalsOf } from '../../src/modules/workspace/erase.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import { fillWorkspace, tracesOf } from '../support/full-workspace.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { stopOwnCluster } from '../support/server.ts';

// A workspace of a million contacts and as many recipients of a campaign, erased by `posthorn workspaces delete`, which is killed with -9
// on the way; the last run is measured statement by statement:
//   bun tests/bench/erase-workspace.ts [--contacts N] [--kills N]

const { values } = parseArgs({
  options: { contacts: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '10' } },
});
const [contacts, kills] = [Number(values.contacts), Number(values.kills)];
const main = resolve(import.meta.dir, '../../src/main.ts');
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-erase-kill-'));
const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(0);
const sum = (traces: Readonly<Record<string, number>>): number =>
  Object.values(traces).reduce((all, count) => all + count, 0);

let isRight = false;
{
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  const filling = performance.now();
  await fillWorkspace(database, 'ws_gone', contacts);
  await fillWorkspace(database, 'ws_other', 1_000);
  const before = await tracesOf(database, 'ws_other');
  const rows = sum(await tracesOf(database, 'ws_gone'));
  console.log(`${rows.toLocaleString('en')} rows were written in ${seconds(filling)} s.`);
  await database.query('update workspaces set erase_at = now() where id = $1', ['ws_gone']);
  for (let kill = 1; kill <= kills; kill++) await killOnTheWay(made.url, kill);
  const left = sum(await tracesOf(database, 'ws_gone'));
  console.log(`${left.toLocaleString('en')} rows are left.`);

  const times: number[] = [];
  const erasing = performance.now();
  await eraseWorkspace(timed(database, times), journalsOf(MODULE_KINDS), 'ws_gone');
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(times.length * share) - 1]?.toFixed(0);
  console.log(
    `They were erased in ${seconds(erasing)} s by ${times.length} statements: p50 ${at(0.5)} ms, p99 ${at(0.99)}, longest ${at(1)}.`,
  );
  const [gone, others] = [await tracesOf(database, 'ws_gone'), await tracesOf(database, 'ws_other')];
  isRight = sum(gone) === 0 && JSON.stringify(others) === JSON.stringify(before) && left > 0 && left < rows;
  console.log(isRight ? 'No row of it is left, and every row of the other.' : 'NOT RIGHT.', gone, others);
  await database.close();
}
rmSync(dataDir, { recursive: true, force: true });
await stopOwnCluster();
process.exit(isRight ? 0 : 1);

/** Kills the command when it has told of some progress: after 100,000 rows, or after 200,000. */
async function killOnTheWay(url: string, kill: number): Promise<void> {
  const child = Bun.spawn([process.execPath, main, 'workspaces', 'delete', 'ws_gone'], {
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', DATA_DIR: dataDir, DATABASE_URL: url },
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
    },
    stderr: 'pipe',
    stdout: 'ignore',
  });
  let told = '';
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`It ended by itself: ${told}`);
    told += value;
    if (told.split('rows are gone').length > 1 + (kill % 2)) break;
  }
  child.kill('SIGKILL');
  await child.exited;
  console.log(`Killed: ${told.trim().split('\n').at(-1)}`);
}

function timed(database: Database, times: number[]): Database {
  const query: Database['query'] = async (...asked) => {
    const begin = performance.now();
    const rows = await database.query<never>(...asked);
    times.push(performance.now() - begin);
    return rows;
  };
  return new Proxy(database, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)),
  });
}
